#include "trainer/data/records/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"

namespace trainyard {

namespace {
constexpr size_t kWindow = 16384;  // a record's head with the tail of the one before, in one read
}

size_t read_at(int fd, uint64_t offset, char* out, size_t count, const std::string& path) {
  size_t filled = 0;
  while (filled < count) {
    const ssize_t got = ::pread(fd, out + filled, count - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

uint64_t descriptor_bytes(const Descriptor& fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) throw file_error("look at", path);
  return static_cast<uint64_t>(status.st_size);
}

FileBytes::FileBytes(int fd, std::string path) : fd_(fd), path_(std::move(path)), window_(kWindow, '\0') {}

std::string_view FileBytes::look(uint64_t offset, size_t count) {
  if (offset < begin_ || offset + count > begin_ + filled_) {
    begin_ = offset;
    filled_ = 0;
    filled_ = read_at(fd_, offset, window_.data(), kWindow, path_);
  }
  return std::string_view(window_).substr(0, filled_).substr(static_cast<size_t>(offset - begin_), count);
}

}  // namespace trainyard
