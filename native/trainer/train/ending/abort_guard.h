// What is still done where a library ends the process: UCX calls abort() when the rank is gone with
// which it shares memory or a connection.
#pragma once
#include <semaphore.h>

#include <csignal>
#include <functional>
#include <thread>

namespace trainyard {

/// While it lives, the thread that made it stands still where it aborts, and `last` runs on another
/// thread in its place. After `last` the process ends by SIGABRT all the same. Any other thread
/// that aborts ends the process at once. One at a time in a process. SIGPIPE is ignored meanwhile,
/// so that a lost connection is an error of the call.
class AbortGuard {
 public:
  explicit AbortGuard(std::function<void()> last);
  ~AbortGuard();
  AbortGuard(const AbortGuard&) = delete;
  AbortGuard& operator=(const AbortGuard&) = delete;

 private:
  void wait_for_abort();

  std::function<void()> last_;
  struct sigaction before_abort_{};
  struct sigaction before_pipe_{};
  std::thread thread_;
};

}  // namespace trainyard
