// An archive's bytes in any order, compressed or not, read where it lies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace trainyard {

/// Bytes of a file that were looked through so far, and how many it has.
using ArchiveProgress = std::function<void(int64_t done, int64_t total)>;

/// The tar that a file is or holds. Safe to use from many threads.
class ArchiveBytes {
 public:
  virtual ~ArchiveBytes() = default;
  virtual uint64_t size() const = 0;
  /// Up to `count` bytes at `offset`, fewer where the archive ends only. Throws Error(Exit::data)
  /// naming the file.
  virtual size_t read(uint64_t offset, char* out, size_t count) const = 0;
};

/// Opens `path`, a tar or a gzip-compressed tar by its first bytes. Of the latter the whole is
/// inflated once, which compares its sums, and places to begin at are noted, at most 32 MiB of
/// them. Throws Error(Exit::data): it cannot be read, is cut short or damaged, or is of another
/// kind (named).
std::unique_ptr<ArchiveBytes> open_archive_bytes(const std::string& path, const ArchiveProgress& progress);

}  // namespace trainyard
