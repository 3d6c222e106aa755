// What is still done where a library ends the process. When the rank is gone with which it shares
// memory or a connection, UCX calls abort(), or MPICH writes through the null pointer of a request
// that it could not make.
#pragma once
#include <semaphore.h>

#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trainyard {

/// While it lives, the thread that made it stands still where it aborts, or where code of MPI's
/// libraries faults (SIGSEGV, SIGBUS), and `last` runs on another thread in its place. After `last`
/// the process ends by SIGABRT all the same. An abort of another thread, and any other fault, ends
/// the process at once. One guard at a time in a process. SIGPIPE is ignored meanwhile, so that a
/// lost connection is an error of the call.
class AbortGuard {
 public:
  explicit AbortGuard(std::function<void()> last) : AbortGuard(std::move(last), {"libmpi.", "libuc", "libfabric."}) {}
  /// `libraries`: how the file names begin whose faults count.
  AbortGuard(std::function<void()> last, const std::vector<std::string>& libraries);
  ~AbortGuard();
  AbortGuard(const AbortGuard&) = delete;
  AbortGuard& operator=(const AbortGuard&) = delete;

 private:
  void wait_for_abort();

  std::function<void()> last_;
  struct sigaction before_abort_{};
  struct sigaction before_pipe_{};
  struct sigaction before_segv_{};
  struct sigaction before_bus_{};
  std::thread thread_;
};

}  // namespace trainyard
