// Newline-framed messages over two descriptors that never block.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

inline constexpr size_t kLongestFrame = 8 << 20;  ///< bytes of one line, without its newline

class LineReader {
 public:
  struct Line {
    std::string text;
    bool too_long = false;  ///< the line was longer than the limit and has been thrown away; text is empty
  };

  explicit LineReader(int fd, size_t limit = kLongestFrame) : fd_(fd), limit_(limit) {}

  /// Reads what is there, 256 KiB at most. False at the end of the input or on an error.
  bool fill();
  std::optional<Line> next();
  /// The next `count` bytes, whatever they are, once all of them have come.
  std::optional<std::string> take(size_t count);
  /// Bytes that came and were not handed out.
  size_t pending() const { return buffer_.size() - begin_; }

 private:
  void drop_handed_out();

  int fd_;
  size_t limit_;
  std::string buffer_;
  size_t begin_ = 0;     ///< of the first line not yet handed out
  size_t searched_ = 0;  ///< no newline before this
  bool discarding_ = false;
};

class FrameWriter {
 public:
  explicit FrameWriter(int fd) : fd_(fd) {}

  void send(const std::string& line);
  /// Bytes that are no line.
  void send_bytes(std::string_view bytes) { buffer_ += bytes; }
  /// Writes what the other side takes. False when it is gone.
  bool flush();
  size_t waiting() const { return buffer_.size() - written_; }
  /// Bytes of memory taken: for a link that is never quite idle too, a small multiple of the most
  /// that waited at once.
  size_t held() const { return buffer_.capacity(); }

 private:
  void let_go_of_written();

  int fd_;
  std::string buffer_;
  size_t written_ = 0;  ///< bytes at the front of the buffer that the other side has
};

}  // namespace trainyard
