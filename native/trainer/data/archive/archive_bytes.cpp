#include "trainer/data/archive/archive_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/files.h"
#include "trainer/data/archive/gzip_bytes.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

namespace {

class PlainBytes : public ArchiveBytes {
 public:
  PlainBytes(Descriptor fd, std::string path, uint64_t size)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}
  uint64_t size() const override { return size_; }
  size_t read(uint64_t offset, char* out, size_t count) const override {
    return read_at(fd_.get(), offset, out, count, path_);
  }

 private:
  Descriptor fd_;
  std::string path_;
  uint64_t size_;
};

/// What is no tar and no gzip, by its first bytes.
const char* other_kind(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("PK")) return "a zip archive";
  if (head.starts_with("BZh")) return "compressed with bzip2";
  if (head.starts_with("\xfd"
                       "7zXZ"sv)) {
    return "compressed with xz";
  }
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return "compressed with zstd";
  if (head.starts_with('<')) return "a page of HTML or XML";
  return nullptr;
}

}  // namespace

std::unique_ptr<ArchiveBytes> open_archive_bytes(const std::string& path, const ArchiveProgress& progress) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) throw file_error("open", path);
  const auto size = static_cast<uint64_t>(status.st_size);
  std::array<char, 8> head{};
  const std::string_view begin(head.data(), read_at(fd.get(), 0, head.data(), head.size(), path));
  if (begin.empty()) throw Error(Exit::data, path + " is empty. Copy or download it again");
  if (const char* kind = other_kind(begin)) {
    throw Error(Exit::data, path + " is " + kind + ". Give a tar (.tar) or a tar compressed with gzip (.tar.gz, .tgz)");
  }
  if (begin.starts_with("\x1f\x8b")) return std::make_unique<GzipBytes>(std::move(fd), path, size, progress);
  return std::make_unique<PlainBytes>(std::move(fd), path, size);
}

}  // namespace trainyard
