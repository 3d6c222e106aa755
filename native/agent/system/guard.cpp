#include "agent/system/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "agent/system/kill.h"
#include "agent/system/spawn.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kSweepSeconds = 30;
constexpr char kAllDone = 'd';

[[noreturn]] void stand_guard(const std::function<std::vector<NamedProcess>()>& find, int pipe, std::vector<int> kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, "agent guard");
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::signal(number, SIG_IGN);
  kept.push_back(pipe);
  close_descriptors_except(kept);
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(pipe, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1 && word == kAllDone) ::_exit(0);

  Sweep sweep(find);
  const bool clean = sweep.run(kSweepSeconds);
  std::fprintf(
      stderr,
      "agent: the process this guard stands beside ended without a word; %zu processes of the run ended, %zu left\n",
      sweep.killed().size(), clean ? size_t{0} : sweep.left().size());
  ::_exit(0);
}

}  // namespace

Guard::Guard(const std::function<std::vector<NamedProcess>()>& find, int lock_fd, std::vector<int> more_locks) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw file_error("make", "a pipe");
  Descriptor reader(ends[0]);
  pipe_ = Descriptor(ends[1]);
  process_.pid = ::fork();
  if (process_.pid < 0) throw file_error("start", "the guard");
  if (process_.pid == 0) {
    more_locks.push_back(lock_fd);
    stand_guard(find, reader.get(), std::move(more_locks));
  }
  process_.start_time = process_start_time(process_.pid).value_or(0);
}

Guard::~Guard() {
  if (::write(pipe_.get(), &kAllDone, 1) == 1) ::waitpid(process_.pid, nullptr, 0);  // EPIPE: it is gone already
}

}  // namespace trainyard
