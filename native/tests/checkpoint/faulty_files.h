// A file layer that fails, stops short, or ends the process at the N-th call.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "trainer/checkpoint/file_system.h"

namespace trainyard {

enum class Fault {
  none,
  crash,       ///< the process ends at the call; a write gets half of its bytes out first
  power_loss,  ///< the process ends, and what was not synced yet is lost by half
  fail_once,   ///< the call fails, those after it do not
  fail_on,     ///< the call fails, and so does every one after it
  stop_short,  ///< a write takes half of its bytes
};

class FaultyFiles : public FileSystem {
 public:
  FaultyFiles(Fault fault, int at, int error = EIO, bool can_exchange = true)
      : fault_(fault), at_(at), error_(error), can_exchange_(can_exchange) {}
  ~FaultyFiles() override {
    for (const auto& [fd, copy] : unsynced_) ::close(copy);
  }

  int calls() const { return calls_; }
  static constexpr int crashed = 77;

  int make_folder(const std::string& path) override { return trips() ? -1 : FileSystem::make_folder(path); }
  int create_file(const std::string& path) override {
    if (trips()) return -1;
    const int fd = FileSystem::create_file(path);
    if (fd >= 0 && fault_ == Fault::power_loss) unsynced_.emplace_back(fd, ::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    return fd;
  }
  ssize_t write(int fd, const char* at, size_t count) override {
    const bool now = ++calls_ == at_;
    if (now && (fault_ == Fault::crash || fault_ == Fault::stop_short)) {
      const ssize_t put = FileSystem::write(fd, at, count / 2);
      if (fault_ == Fault::crash) ::_exit(crashed);
      return count == 1 ? FileSystem::write(fd, at, count) : put;
    }
    --calls_;
    return trips() ? -1 : FileSystem::write(fd, at, count);
  }
  int sync_file(int fd) override {
    if (trips()) return -1;
    std::erase_if(unsynced_, [&](const auto& file) { return file.first == fd && ::close(file.second) == 0; });
    return FileSystem::sync_file(fd);
  }
  int sync_folder(const std::string& path) override { return trips() ? -1 : FileSystem::sync_folder(path); }
  int rename(const std::string& from, const std::string& to) override {
    return trips() ? -1 : FileSystem::rename(from, to);
  }
  int exchange(const std::string& a, const std::string& b) override {
    if (trips()) return -1;
    if (can_exchange_) return FileSystem::exchange(a, b);
    errno = EINVAL;
    return -1;
  }
  int remove_file(const std::string& path) override { return trips() ? -1 : FileSystem::remove_file(path); }
  int remove_folder(const std::string& path) override { return trips() ? -1 : FileSystem::remove_folder(path); }

 private:
  // Whether this call fails; does not return where the process ends with it.
  bool trips() {
    ++calls_;
    if (fault_ == Fault::fail_on ? calls_ < at_ : calls_ != at_) return false;
    if (fault_ == Fault::none || fault_ == Fault::stop_short) return false;
    if (fault_ == Fault::crash) ::_exit(crashed);
    if (fault_ == Fault::power_loss) {
      for (const auto& [fd, copy] : unsynced_)
        if (::ftruncate(copy, ::lseek(copy, 0, SEEK_END) / 2) != 0) ::_exit(1);
      ::_exit(crashed);
    }
    errno = error_;
    return true;
  }

  Fault fault_;
  int at_;
  int error_;
  bool can_exchange_;
  int calls_ = 0;
  std::vector<std::pair<int, int>> unsynced_;  // each with a second descriptor that outlives its closing
};

}  // namespace trainyard
