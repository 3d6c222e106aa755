#include "trainer/train/ending/stop_request.h"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "common/process.h"

namespace trainyard {

StopSignals::StopSignals() : signals_{} {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

StopSignals::~StopSignals() {
  thread_.request_stop();
  thread_.join();
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

void StopSignals::watch(const std::stop_token& stop) {
  const timespec patience{0, 100'000'000};
  while (!stop.stop_requested()) {
    const int signal = sigtimedwait(&signals_, nullptr, &patience);
    if (signal <= 0) continue;
    if (count_.fetch_add(1) > 0) ::_exit(128 + signal);
  }
}

StopFile::StopFile(const std::string& run_dir) : path_(run_dir + "/stop.json"), made_(now_seconds()) {}

bool StopFile::requested() const {
  struct stat status{};
  if (::stat(path_.c_str(), &status) != 0) return false;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec) >= made_;
}

}  // namespace trainyard
