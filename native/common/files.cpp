#include "common/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "common/error.h"

namespace trainyard {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

std::string read_file(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw file_error("open", path);
  std::string text;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path);
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<size_t>(got));
  }
}

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw file_error("write", path);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void replace_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  try {
    const Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd) throw file_error("create", temporary);
    write_all(fd.get(), bytes, temporary);
    if (::fsync(fd.get()) != 0) throw file_error("sync", temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw file_error("replace", path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void sync_folder(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw file_error("open", path);
  if (::fsync(fd.get()) != 0) throw file_error("sync", path);
}

LineFile::LineFile(const std::string& path)
    : path_(path), fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (!fd_) throw file_error("open", path);
}

bool LineFile::ends_inside_a_line() const {
  const off_t size = ::lseek(fd_.get(), 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(fd_.get(), &last, 1, size - 1) == 1 && last != '\n';
}

void LineFile::take_back(size_t written) {
  if (written == 0) return;
  const off_t end = ::lseek(fd_.get(), 0, SEEK_CUR);  // O_APPEND: where our own bytes end
  struct stat status{};
  if (end < 0 || ::fstat(fd_.get(), &status) != 0 || status.st_size != end) return;
  // Where the cut fails too, the next append ends the torn line.
  if (::ftruncate(fd_.get(), end - static_cast<off_t>(written)) != 0) return;
}

void LineFile::append(std::string line) {
  line.push_back('\n');
  if (ends_inside_a_line()) line.insert(line.begin(), '\n');
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t put = ::write(fd_.get(), line.data() + written, line.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      take_back(written);
      errno = error;
      throw file_error("write", path_);
    }
    written += static_cast<size_t>(put);
  }
}

}  // namespace trainyard
