#include "agent/reports/reports.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "agent/reports/collector.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kRestSeconds = 10;  // before a process that ended is started again
constexpr double kFinishSeconds = 5;
constexpr int kLookMs = 500;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw file_error("make", "a pipe");
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out, in;
};

std::string logdir_of(const RunFolder& folder, const RunSpec& spec) {
  if (spec.logdir.empty()) return "";
  if (spec.logdir.front() == '~') return expand_path(spec.logdir);
  if (spec.logdir.front() == '/') return spec.logdir;
  return (spec.cwd.empty() ? folder.dir() : spec.cwd) + "/" + spec.logdir;
}

/// Looks twice a second until the orders' pipe is closed, then once more at everything.
void collect(Collector& collector, int orders) {
  LineReader reader(orders);
  ::fcntl(orders, F_SETFL, ::fcntl(orders, F_GETFL) | O_NONBLOCK);
  bool more = false;
  for (bool open = true; open;) {
    pollfd waiting{orders, POLLIN, 0};
    if (::poll(&waiting, 1, more ? 0 : kLookMs) > 0) open = reader.fill();
    while (const auto line = reader.next()) collector.set_generation(std::atoi(line->text.c_str()));
    more = collector.look();
  }
  sleep_ms(1000);  // the search for files comes each second
  while (collector.look()) {
  }
  collector.conclude();
}

[[noreturn]] void become_collector(const RunFolder& folder, const std::string& logdir, const std::string& prefix,
                                   double began, int orders, int notices) {
  detach_from_everything("agent reports", orders, notices);
  try {
    const auto notice = [&](const std::string& kind, const Json& fields) {
      try {
        write_all(notices, to_line({{"kind", kind}, {"fields", fields}}) + "\n", "the notices");
      } catch (const Error&) {
        return;  // the supervisor is gone; what is there is still read
      }
    };
    Collector collector(folder, logdir, began, notice, prefix);
    collect(collector, orders);
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

Reports::Reports(const RunFolder& folder, const RunSpec& spec)
    : folder_(folder), logdir_(logdir_of(folder, spec)), wanted_(!spec.is_trainer), began_(now_seconds()) {}

Reports::Reports(const RunFolder& folder, const std::string& prefix)
    : folder_(folder), prefix_(prefix), wanted_(true), began_(now_seconds()) {}

Reports::~Reports() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void Reports::begin(int generation) {
  generation_ = generation;
  if (!wanted_) return;
  if (pid_ < 0) {
    start();
  } else {
    tell_generation();
  }
}

void Reports::start() {
  next_start_ = monotonic_seconds() + kRestSeconds;
  try {
    Pipe orders, notices;
    const int pid = ::fork();
    if (pid < 0) throw file_error("start", "the process that reads figures");
    if (pid == 0) become_collector(folder_, logdir_, prefix_, began_, orders.out.get(), notices.in.get());
    pid_ = pid;
    orders_ = std::move(orders.in);
    notices_ = std::move(notices.out);
    ::fcntl(orders_.get(), F_SETFL, ::fcntl(orders_.get(), F_GETFL) | O_NONBLOCK);
    ::fcntl(notices_.get(), F_SETFL, ::fcntl(notices_.get(), F_GETFL) | O_NONBLOCK);
    reader_ = std::make_unique<LineReader>(notices_.get());
  } catch (const Error& error) {
    std::fprintf(stderr, "agent: warning: %s\n", error.what());
    return;
  }
  tell_generation();
}

void Reports::tell_generation() {
  try {
    write_all(orders_.get(), std::to_string(generation_) + "\n", "the process that reads figures");
  } catch (const Error& error) {
    std::fprintf(stderr, "agent: warning: %s\n", error.what());
  }
}

bool Reports::take(const Notice& notice) {
  if (pid_ < 0) return false;
  const bool open = reader_->fill();
  while (const auto line = reader_->next()) {
    const Json said = parse_json(line->text);
    notice(said.value("kind", ""), said["fields"]);
  }
  if (open) return true;
  ::waitpid(pid_, nullptr, WNOHANG);  // the supervisor may have seen its end already
  pid_ = -1;
  return false;
}

void Reports::look(const Notice& notice) {
  if (wanted_ && generation_ > 0 && !take(notice) && monotonic_seconds() >= next_start_) start();
}

void Reports::close() {
  if (!wanted_) return;
  wanted_ = false;
  orders_ = Descriptor();
  last_ = monotonic_seconds() + kFinishSeconds;
}

bool Reports::is_over(const Notice& notice) {
  if (!take(notice)) return true;
  if (monotonic_seconds() < last_) return false;
  ::kill(pid_, SIGKILL);  // two of them must not write one file
  std::fprintf(stderr, "agent: warning: figures of the program may be missing: the disk did not answer\n");
  pid_ = -1;
  return true;
}

void Reports::finish(const Notice& notice) {
  close();
  while (!is_over(notice)) sleep_ms(20);
}

}  // namespace trainyard
