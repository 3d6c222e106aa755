#include "trainer/train/ending/abort_guard.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "common/error.h"

namespace trainyard {
namespace {

// A signal's handler sees nothing but globals.
sem_t woken;                        // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> aborting{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
pthread_t owner{};                  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void stand_still(int /*signal*/) {
  // Where another thread aborts, among them the one that does the last things, the process ends.
  if (::pthread_equal(::pthread_self(), owner) == 0 || aborting.exchange(true)) {
    std::signal(SIGABRT, SIG_DFL);
    return;
  }
  ::sem_post(&woken);
  for (;;) ::pause();
}

void take(int signal, void (*handler)(int), struct sigaction& before) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(signal, &action, &before) != 0) throw Error(Exit::internal, "a signal cannot be handled");
}

}  // namespace

AbortGuard::AbortGuard(std::function<void()> last) : last_(std::move(last)) {
  ::sem_init(&woken, 0, 0);
  owner = ::pthread_self();
  take(SIGABRT, stand_still, before_abort_);
  take(SIGPIPE, SIG_IGN, before_pipe_);
  thread_ = std::thread([this] { wait_for_abort(); });
}

AbortGuard::~AbortGuard() {
  ::sem_post(&woken);
  thread_.join();
  ::sigaction(SIGABRT, &before_abort_, nullptr);
  ::sigaction(SIGPIPE, &before_pipe_, nullptr);
  ::sem_destroy(&woken);
}

void AbortGuard::wait_for_abort() {
  while (::sem_wait(&woken) != 0 && errno == EINTR) continue;
  if (!aborting) return;
  last_();
  std::signal(SIGABRT, SIG_DFL);
  sigset_t own{};
  ::sigemptyset(&own);
  ::sigaddset(&own, SIGABRT);
  ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  ::raise(SIGABRT);
}

}  // namespace trainyard
