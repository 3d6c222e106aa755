// The system calls that make a checkpoint, each one replaceable, so that tests can let any of them
// fail or be the last.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <string>

namespace trainyard {

/// Every function answers as its system call does: a negative number and errno when it failed.
class FileSystem {
 public:
  FileSystem() = default;
  virtual ~FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  virtual int make_folder(const std::string& path);  ///< mode 0700
  virtual int create_file(const std::string& path);  ///< mode 0600, for writing; fails where one exists
  virtual ssize_t write(int fd, const char* at, size_t count);
  virtual int sync_file(int fd);
  virtual int sync_folder(const std::string& path);
  virtual int rename(const std::string& from, const std::string& to);
  /// Both names change places in one step. EINVAL, ENOSYS or EOPNOTSUPP where the file system
  /// cannot.
  virtual int exchange(const std::string& a, const std::string& b);
  virtual int remove_file(const std::string& path);
  virtual int remove_folder(const std::string& path);
};

/// Removes a file, a link (not what it points to), or a folder with all that is in it; nothing when
/// there is none. Throws file_error.
void remove_tree(FileSystem& files, const std::string& path);

}  // namespace trainyard
