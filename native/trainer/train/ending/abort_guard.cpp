#include "trainer/train/ending/abort_guard.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "common/error.h"

namespace trainyard {
namespace {

// A signal's handler sees nothing but globals.
sem_t woken;                        // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> aborting{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> fault{0};          // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
pthread_t owner{};                  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Addresses of code, the end not included.
struct Range {
  uintptr_t begin, end;
};
std::array<Range, 64> guarded;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<size_t> ranges{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Notes where the code of a library is, if its name begins with one of `names`.
int note_library(dl_phdr_info* info, size_t /*size*/, void* names) {
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string& start : *static_cast<const std::vector<std::string>*>(names)) {
    if (!name.starts_with(start)) continue;
    for (int index = 0; index < info->dlpi_phnum && ranges < guarded.size(); ++index) {
      const auto& header = info->dlpi_phdr[index];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
      guarded[ranges++] = {begin, begin + header.p_memsz};
    }
  }
  return 0;
}

bool is_guarded(uintptr_t address) {
  for (size_t index = 0; index < ranges; ++index) {
    if (address >= guarded[index].begin && address < guarded[index].end) return true;
  }
  return false;
}

extern "C" void stand_still(int /*signal*/) {
  // Where another thread aborts, among them the one that does the last things, the process ends.
  if (::pthread_equal(::pthread_self(), owner) == 0 || aborting.exchange(true)) {
    std::signal(SIGABRT, SIG_DFL);
    return;
  }
  ::sem_post(&woken);
  for (;;) ::pause();
}

extern "C" void stand_still_where_mpi_faults(int signal, siginfo_t* info, void* context) {
  const auto* registers = static_cast<const ucontext_t*>(context);
  const auto address = static_cast<uintptr_t>(registers->uc_mcontext.gregs[REG_RIP]);
  const bool sent = info->si_code <= 0;  // by a process, and not a fault
  if (sent || !is_guarded(address) || ::pthread_equal(::pthread_self(), owner) == 0 || aborting.exchange(true)) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);  // takes effect when this returns
    return;
  }
  fault = signal;
  ::sem_post(&woken);
  for (;;) ::pause();
}

void install(int signal, struct sigaction action, struct sigaction& before) {
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(signal, &action, &before) != 0) throw Error(Exit::internal, "a signal cannot be handled");
}

void take(int signal, void (*handler)(int), struct sigaction& before) {
  struct sigaction action{};
  action.sa_handler = handler;
  install(signal, action, before);
}

void take_faults(int signal, struct sigaction& before) {
  struct sigaction action{};
  action.sa_sigaction = stand_still_where_mpi_faults;
  action.sa_flags = SA_SIGINFO;
  install(signal, action, before);
}

}  // namespace

AbortGuard::AbortGuard(std::function<void()> last, const std::vector<std::string>& libraries) : last_(std::move(last)) {
  ::sem_init(&woken, 0, 0);
  owner = ::pthread_self();
  ranges = 0;
  auto names = libraries;
  ::dl_iterate_phdr(note_library, &names);
  take(SIGABRT, stand_still, before_abort_);
  take_faults(SIGSEGV, before_segv_);
  take_faults(SIGBUS, before_bus_);
  take(SIGPIPE, SIG_IGN, before_pipe_);
  thread_ = std::thread([this] { wait_for_abort(); });
}

AbortGuard::~AbortGuard() {
  ::sem_post(&woken);
  thread_.join();
  ::sigaction(SIGABRT, &before_abort_, nullptr);
  ::sigaction(SIGSEGV, &before_segv_, nullptr);
  ::sigaction(SIGBUS, &before_bus_, nullptr);
  ::sigaction(SIGPIPE, &before_pipe_, nullptr);
  ::sem_destroy(&woken);
}

void AbortGuard::wait_for_abort() {
  while (::sem_wait(&woken) != 0 && errno == EINTR) continue;
  if (!aborting) return;
  if (fault != 0) std::fprintf(stderr, "trainer: warning: MPI's library faulted by signal %d\n", fault.load());
  last_();
  std::signal(SIGABRT, SIG_DFL);
  sigset_t own{};
  ::sigemptyset(&own);
  ::sigaddset(&own, SIGABRT);
  ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  ::raise(SIGABRT);
}

}  // namespace trainyard
