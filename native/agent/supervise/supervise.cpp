#include "agent/supervise/supervise.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "agent/run/lease.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kLockSeconds = 15;  // for the guard of a dead supervisor to sweep

[[noreturn]] void refuse(const RunFolder& folder) {
  throw Error(Exit::usage, under_way(folder, read_json_object(folder.state())));
}

/// Waits while the last supervisor is on its way out or its guard sweeps; refuses as soon as one at
/// work is seen.
Descriptor take_lock(const RunFolder& folder) {
  Descriptor lock(::open(folder.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) throw file_error("open", folder.lock());
  const double deadline = monotonic_seconds() + kLockSeconds;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw file_error("lock", folder.lock());
    if (supervision(folder).is_active() || monotonic_seconds() >= deadline) refuse(folder);
    sleep_ms(100);
  }
  // Where locks do not cross hosts, the state of a supervisor on another one tells of it.
  if (disk_of(folder.dir()) == Disk::shared && supervision(folder).is_active()) refuse(folder);
  return lock;
}

int next_generation(const RunFolder& folder) {
  const auto state = read_json_object(folder.state());
  if (!state) return 1;
  const auto before = state->find("generation");
  return before != state->end() && before->is_number_integer() ? before->get<int>() + 1 : 1;
}

void say_failed(const RunFolder& folder, int generation, const std::string& reason) {
  RunState state;
  state.phase = "failed";
  state.generation = generation;
  state.supervisor = {::getpid(), process_start_time(::getpid()).value_or(0)};
  state.boot = boot_id();
  state.host = host_name();
  state.started = now_seconds();
  state.ended = state.started;
  state.exit_code = static_cast<int>(Exit::usage);
  state.reason = reason;
  Journal journal(folder.events());
  journal.set_generation(generation);
  journal.event("finished", {{"phase", "failed"}, {"exit_code", *state.exit_code}, {"reason", reason}, {"seconds", 0}});
  replace_file(folder.state(), to_line(state.to_json()) + "\n");
}

}  // namespace

int supervise(const std::string& run_dir, GpuLocks gpus) {
  const RunFolder folder(run_dir);
  const Descriptor lock = take_lock(folder);
  const int generation = next_generation(folder);
  RunSpec spec;
  Budget budget;
  try {
    const Json json = parse_json(read_file(folder.run()));
    spec = parse_run_spec(json);
    budget = Budget(json, spec);
    if (spec.spans_hosts()) ::setenv("TRAINYARD_HOST", spec.nodes.front().host.c_str(), 1);
    if (const auto missing = missing_program(spec)) throw FieldError(*missing);
  } catch (const FieldError& error) {
    say_failed(folder, generation, error.what());
    throw Error(Exit::usage, error.what());
  }
  folder.make_folders();
  gpus.say({spec.id, folder.dir()});
  return Supervisor(folder, spec, budget, generation, lock.get(), std::move(gpus)).run();
}

}  // namespace trainyard
