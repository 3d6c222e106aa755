#include "trainer/checkpoint/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

int FileSystem::make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0700); }

int FileSystem::create_file(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

ssize_t FileSystem::write(int fd, const char* at, size_t count) { return ::write(fd, at, count); }

int FileSystem::sync_file(int fd) { return ::fsync(fd); }

int FileSystem::sync_folder(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd ? ::fsync(fd.get()) : -1;
}

int FileSystem::rename(const std::string& from, const std::string& to) { return ::rename(from.c_str(), to.c_str()); }

int FileSystem::exchange(const std::string& a, const std::string& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
}

int FileSystem::remove_file(const std::string& path) { return ::unlink(path.c_str()); }

int FileSystem::remove_folder(const std::string& path) { return ::rmdir(path.c_str()); }

void remove_tree(FileSystem& files, const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw file_error("look at", path);
  }
  if (!S_ISDIR(status.st_mode)) {
    if (files.remove_file(path) != 0) throw file_error("remove", path);
    return;
  }
  std::error_code error;
  std::filesystem::directory_iterator entries(path, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error))
    remove_tree(files, entries->path().string());
  if (error) {
    errno = error.value();
    throw file_error("list", path);
  }
  if (files.remove_folder(path) != 0) throw file_error("remove", path);
}

}  // namespace trainyard
