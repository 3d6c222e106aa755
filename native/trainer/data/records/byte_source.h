// Bytes that are looked at piece by piece: a whole record in memory, or a shard of which only a
// little is read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/files.h"

namespace trainyard {

/// A part of a ByteSource: [begin, end).
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
};

class ByteSource {
 public:
  static constexpr size_t kMost = 4096;  ///< bytes that one look may ask for
  virtual ~ByteSource() = default;
  /// The `count` bytes at `offset`, fewer where the source ends; they stay until the next call.
  /// count: up to kMost.
  virtual std::string_view look(uint64_t offset, size_t count) = 0;
};

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::string_view look(uint64_t offset, size_t count) override {
    return bytes_.substr(static_cast<size_t>(offset < bytes_.size() ? offset : bytes_.size()), count);
  }

 private:
  std::string_view bytes_;
};

/// A file behind a small window, so that what lies between two looks is never read when it is
/// large.
class FileBytes : public ByteSource {
 public:
  /// `path` is for messages; the descriptor stays the caller's.
  FileBytes(int fd, std::string path);
  /// Throws file_error.
  std::string_view look(uint64_t offset, size_t count) override;

 private:
  int fd_;
  std::string path_;
  std::string window_;
  uint64_t begin_ = 0;  ///< of the window, in the file
  size_t filled_ = 0;   ///< bytes of it
};

/// Reads up to `count` bytes at `offset` into `out`; fewer at the file's end only. Throws
/// file_error naming `path`.
size_t read_at(int fd, uint64_t offset, char* out, size_t count, const std::string& path);

/// How large the open file is. Throws file_error naming `path`.
uint64_t descriptor_bytes(const Descriptor& fd, const std::string& path);

}  // namespace trainyard
