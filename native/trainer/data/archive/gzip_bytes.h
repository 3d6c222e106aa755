// Any place of a gzip file without inflating all that lies before it.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/files.h"
#include "trainer/data/archive/archive_bytes.h"

namespace trainyard {

/// A place where inflating can begin: a block's start and the 32 KiB before it, as in zlib's
/// examples/zran.c.
struct GzipPoint {
  uint64_t out = 0;    ///< in the inflated bytes
  uint64_t in = 0;     ///< the first whole byte of the file that is still to be read
  int bits = 0;        ///< of the byte before it that belong to the block
  std::string window;  ///< inflated bytes before `out`, up to 32 KiB
};

class GzipCursor;

/// A gzip file of one or several members. Reads that go on where an earlier one ended cost no more
/// than inflating what lies between; others begin at a point, of which there are up to 1,024, at
/// least 1 MiB of output apart.
class GzipBytes : public ArchiveBytes {
 public:
  /// Inflates all of `fd`, comparing the sums. Throws as open_archive_bytes.
  GzipBytes(Descriptor fd, std::string path, uint64_t file_size, const ArchiveProgress& progress);
  ~GzipBytes() override;
  uint64_t size() const override { return size_; }
  size_t read(uint64_t offset, char* out, size_t count) const override;

 private:
  void scan(const ArchiveProgress& progress);
  void keep_point(GzipPoint point);
  std::unique_ptr<GzipCursor> take(uint64_t offset) const;

  Descriptor fd_;
  std::string path_;
  uint64_t file_size_;
  uint64_t size_ = 0;
  uint64_t span_;  ///< of output between two points, at least
  std::vector<GzipPoint> points_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<GzipCursor>> idle_;
};

}  // namespace trainyard
