// One place in a gzip file that moves on while it inflates.
#pragma once
#include <zlib.h>

#include <string>
#include <vector>

#include "trainer/data/archive/gzip_bytes.h"

namespace trainyard {

class GzipCursor {
 public:
  /// The descriptor stays the caller's; `path` is for messages.
  GzipCursor(int fd, std::string path);
  ~GzipCursor();
  GzipCursor(const GzipCursor&) = delete;
  GzipCursor& operator=(const GzipCursor&) = delete;

  /// Goes to the file's start, with the sums compared at the end of each member. Returns that
  /// place.
  GzipPoint begin();
  /// Goes to `point`; the sums of the member it lies in are not compared.
  void start(const GzipPoint& point);
  bool started() const { return started_; }
  /// Inflates up to `count` bytes, no further than the end of a block. Throws Error(Exit::data):
  /// cut short, damaged.
  size_t advance(char* out, size_t count);
  /// Inflates up to `offset`, which is not before position(), or up to the end.
  void skip_to(uint64_t offset);
  bool ended() const { return ended_; }
  /// Whether a block other than a member's last one just ended, so that point() may be asked for.
  bool at_block() const { return at_block_; }
  GzipPoint point() const;
  uint64_t position() const { return position_; }  ///< in the inflated bytes
  uint64_t file_position() const { return file_position_ - stream_.avail_in; }

 private:
  void reset(int window_bits);
  bool refill();
  void end_of_member();
  void drop(size_t count);
  [[noreturn]] void refuse(const char* what) const;

  int fd_;
  std::string path_;
  z_stream stream_{};
  std::vector<char> input_;
  uint64_t file_position_ = 0;  ///< of the end of what is in input_
  uint64_t position_ = 0;
  bool made_ = false;
  bool started_ = false;
  bool raw_ = false;  ///< begun at a point: the member's trailer is ours to skip
  bool ended_ = false;
  bool at_block_ = false;
};

}  // namespace trainyard
