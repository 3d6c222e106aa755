#include "agent/supervise/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "agent/cluster/launch.h"
#include "agent/ranks/heartbeat.h"
#include "agent/ranks/own_program.h"
#include "agent/ranks/rank.h"
#include "agent/ranks/rank_environment.h"
#include "agent/run/lease.h"
#include "agent/run/run_processes.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr long kTickNanoseconds = 100'000'000;
constexpr long kBusyTickNanoseconds = 5'000'000;  // while other nodes' logs stream in
constexpr double kSlowLookSeconds = 0.5;
constexpr double kFolderGoneSeconds = 10;  // a mount may be away for a moment
constexpr double kEvaluatorSeconds = 600;  // without a beat, in the last evaluation of a run that ended well
constexpr double kFailedEvaluatorSeconds = 5;
constexpr double kMpiexecSeconds = 3;  // to end by itself after its last rank
constexpr double kSweepSeconds = 15;
constexpr double kLastWordsSeconds = 600;  // for a full or read-only disk to take how the run ended
constexpr double kRestartSeconds = 2;      // ports and shared memory of the last generation go away meanwhile

sigset_t handled_signals() {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, kStopNowSignal}) ::sigaddset(&handled, number);
  return handled;
}

}  // namespace

Supervisor::Supervisor(const RunFolder& folder, const RunSpec& spec, const Budget& budget, int generation, int lock_fd,
                       GpuLocks gpus)
    : folder_(folder),
      spec_(spec),
      budget_(budget),
      journal_(folder.events()),
      gpu_locks_(std::move(gpus)),
      lock_fd_(lock_fd),
      samples_(folder),
      reports_(folder, spec),
      notifier_(folder, spec),
      watch_(folder),
      local_(folder.dir(), [this] { return spared(); }) {
  const sigset_t handled = handled_signals();
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  signals_ = Descriptor(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw file_error("make", "a descriptor of signals");
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // whatever a rank leaves behind becomes our child, where we find it

  journal_.listen(
      [this](const std::string& kind, const Json& fields) { notifier_.heard(kind, fields, state_.phase, journal_); });
  state_.generation = generation;
  journal_.set_generation(generation);
  state_.world = spec.ranks;
  state_.supervisor = {::getpid(), process_start_time(::getpid()).value_or(0)};
  state_.boot = boot_id();
  state_.host = host_name();
  if (spec.queue) state_.phase = "queued";
  stand_guard();
  state_.started = now_seconds();
}

int Supervisor::run() {
  remove_stop_request(folder_);
  const bool waits_alone = spec_.queue && spec_.nodes.size() == 1;  // it takes no port meanwhile
  const std::optional<std::string> trouble = waits_alone ? std::nullopt : open_cluster();
  save_state();
  GenerationResult result;
  result.reason = trouble;
  try {
    if (!trouble) result = with_stop_now(run_generations());
  } catch (const std::exception& error) {  // a defect of ours must still leave nothing running
    result.reason = std::string("the supervisor failed: ") + error.what();
    generation_.reset();
    queue_.reset();
    evaluator_.kill();
  }
  state_.waiting.clear();
  end_evaluator(result);
  conclude(result);
  return result.exit_code;
}

GenerationResult Supervisor::run_generations() {
  if (auto without = wait_in_queue()) return *without;
  if (spec_.tensorboard) tensorboard_.start(folder_, spec_, journal_);
  if (auto without = wait_for_nodes(true)) return *without;
  GenerationResult result = run_generation();
  while (result.worth_retrying && !stop_came_first_ && restarts_ < spec_.max_restarts) {
    if (stop_) return as_stopped(result);
    say_restarting(result, spec_.max_restarts - ++restarts_);
    notifier_.tell("restarting",
                   {{"status", state_.phase},
                    {"reason", json_or_null(result.reason)},
                    {"restarts_left", spec_.max_restarts - restarts_}},
                   journal_);
    rest_before_restart();
    if (stop_) return as_stopped(result);
    evaluator_.kill();  // the next one tells of the new generation
    while (evaluator_.running()) wait_and_look();
    if (stop_) return as_stopped(result);
    if (auto without = wait_for_nodes(false)) return *without;
    if (stop_) return as_stopped(result);
    ++state_.generation;
    result = run_generation();
  }
  return result;
}

void Supervisor::wait_and_look() {
  take_signals();
  reap();
  const double now = monotonic_seconds();
  const bool waits = state_.phase == "queued";
  if (now >= next_slow_look_) {
    next_slow_look_ = now + kSlowLookSeconds;
    look_at_stop_request();
    look_at_folder();
    if (const auto stop = waits ? std::nullopt : budget_.look(begun_, monotonic_seconds(), journal_))
      request_stop(*stop);
    watch_.look_at_metrics(journal_);
    watch_.look_at_disk(samples_.disk_free(), journal_);
    tensorboard_.look(journal_);
    reports_.look([this](const std::string& kind, const Json& fields) { journal_.event(kind, fields); });
    save_what_waits();
  }
  if (now >= next_refresh_) save_state();  // other hosts conclude from it that we live
  if (!waits) samples_.tick();             // what other runs do meanwhile is not its own
  evaluator_.look_at_log();
  if (!cluster_) return;
  cluster_->step();
  if (cluster_->changed()) save_state();
}

void Supervisor::take_signals() {
  const sigset_t handled = handled_signals();
  timespec tick{0, kTickNanoseconds};
  if (cluster_) {
    const long length = cluster_->busy() ? kBusyTickNanoseconds : kTickNanoseconds;
    cluster_->serve_until(monotonic_seconds() + static_cast<double>(length) / 1e9, signals_.get());
    tick.tv_nsec = 0;
  }
  siginfo_t info{};
  const int number = ::sigtimedwait(&handled, &info, &tick);
  if (const auto mode = stop_mode(number)) request_stop({*mode, std::string("signal ") + signal_name(number)});
}

void Supervisor::reap() {
  int status = 0;
  for (int pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (generation_ && generation_->mpiexec().pid == pid) generation_->mpiexec_ended(status);
    if (evaluator_.child_ended(pid, status, journal_)) {
      state_.evaluator.reset();
      save_state();
    }
    tensorboard_.child_ended(pid, status, journal_);
  }
}

void Supervisor::look_at_stop_request() {
  if (const auto request = read_stop_request(folder_)) request_stop(*request);
}

void Supervisor::look_at_folder() {
  if (!is_gone(folder_.dir())) return folder_gone_since_.reset();
  const double now = monotonic_seconds();
  if (!folder_gone_since_) folder_gone_since_ = now;
  if (now - *folder_gone_since_ < kFolderGoneSeconds) return;
  request_stop({StopRequest::Mode::now, "its supervisor, since the folder of the run is gone"});
}

void Supervisor::request_stop(const StopRequest& request) {
  if (stop_ && stop_->mode >= request.mode) return;
  stop_ = request;
  journal_.event("stop_requested", {{"mode", mode_name(request.mode)}, {"by", request.by}});
  if (generation_) {
    stop_came_first_ = stop_came_first_ || !generation_->is_failing();
    set_phase("stopping");
    stop_now() ? generation_->end_now() : generation_->ask_to_stop();
  }
  if (stop_now()) evaluator_.kill();
}

Command Supervisor::mpiexec_command(const RunSpec& spec) const {
  Command command;
  command.cwd = folder_.dir();
  command.log = folder_.log("mpiexec");
  command.death_signal = SIGKILL;  // its proxy then kills the ranks: without a supervisor nobody would watch them
  if (!cluster_) {
    command.argv = local_launch(folder_, spec, state_.generation);
    command.env = rank_environment(folder_, state_.generation, spec.threads_per_rank, spec.env, spec.gpus);
    return command;
  }
  command.argv = spread_launch(spec, spec.nodes);
  command.env = clean_environment();
  command.env[kRunVariable] = folder_.dir();
  return command;
}

/// Throws Error when nothing was started.
void Supervisor::start_mpiexec(const RunSpec& spec, RankHosts& hosts) {
  control_ = std::make_unique<ControlChannel>();
  if (cluster_) {
    cluster_->begin_generation(state_.generation, spec, folder_.log("mpiexec"), *control_);
  } else {
    const Json file = command_file(spec.rank_command(folder_.dir()), spec.has_code ? folder_.code() : spec.cwd,
                                   spec.prologue, own_program(spec, state_.generation));
    replace_file(folder_.command(state_.generation), to_line(file) + "\n");
  }
  Command command = mpiexec_command(spec);
  control_->add_to(command);
  generation_ = std::make_unique<Generation>(folder_, spec, state_.generation, command, listener(), hosts);
  try {
    control_->await_loaded(generation_->mpiexec());
  } catch (const Error& error) {
    generation_->end_because(error.what());
  }
}

GenerationResult Supervisor::run_generation() {
  journal_.set_generation(state_.generation);
  const RunSpec spec = spec_of_generation();
  state_.world = spec.ranks;
  reports_.begin(state_.generation);
  journal_.event("started", {{"world", spec.ranks}, {"argv", spec.argv}});
  state_.phase = "starting";
  state_.ranks.clear();
  GenerationResult result;
  RankHosts& hosts = cluster_ ? static_cast<RankHosts&>(*cluster_) : local_;
  try {
    start_mpiexec(spec, hosts);
  } catch (const Error& error) {
    result.reason = error.what();
    return result;
  }
  state_.mpiexec = generation_->mpiexec();
  save_state();
  bool started = false;
  while (!generation_->poll()) {
    if (cluster_ && cluster_->failure()) generation_->end_because(*cluster_->failure());
    if (generation_->all_started() && !started) {
      started = true;
      if (spec_.evaluator && !evaluator_.running() && !stop_)
        evaluator_.start(folder_, spec_, state_.generation, journal_);
      state_.evaluator = evaluator_.process();
      set_phase(stop_ ? "stopping" : "running");
    }
    if (started && !stop_ && evaluator_.is_due_again()) {
      evaluator_.start(folder_, spec_, state_.generation, journal_);
      state_.evaluator = evaluator_.process();
      save_state();
    }
    wait_and_look();
  }
  result = generation_->result(stop_.has_value());
  generation_.reset();

  hosts.let_go(state_.generation);
  const double deadline = monotonic_seconds() + kMpiexecSeconds;
  while (is_alive(*state_.mpiexec) && monotonic_seconds() < deadline && !stop_now()) wait_and_look();
  Sweep sweep([this] { return find_marked_except(folder_.dir(), [this] { return spared(); }); });
  sweep.run(kSweepSeconds);
  state_.mpiexec.reset();
  settle_nodes(false);
  if (result.reason && spec.ranks < spec_.ranks) {
    result.reason = "with " + std::to_string(spec.ranks) + " of " + std::to_string(spec_.ranks) +
                    " ranks, since not every node came back: " + *result.reason;
  }
  return result;
}

void Supervisor::rest_before_restart() {
  const double deadline = monotonic_seconds() + kRestartSeconds;
  while (monotonic_seconds() < deadline && !stop_) wait_and_look();
}

GenerationResult Supervisor::with_stop_now(GenerationResult result) const {
  if (stop_ && result.kind == GenerationResult::Kind::stopped && !result.reason) result.reason = budget_.why(*stop_);
  if (!stop_now() || result.kind != GenerationResult::Kind::failed) return result;
  result.kind = GenerationResult::Kind::stopped;
  result.exit_code = stop_code(stop_->mode);
  result.reason = "stopped at once" + by_text(*stop_) + ", without saving its last steps" +
                  (result.unended.empty() ? "" : "; " + result.unended);
  return result;
}

GenerationResult Supervisor::as_stopped(GenerationResult result) const {
  const std::string why = budget_.why(*stop_).value_or("stopped" + by_text(*stop_));
  result.kind = GenerationResult::Kind::stopped;
  result.exit_code = stop_code(stop_->mode);
  result.reason = why + ", in place of a restart" + (result.reason ? " after: " + *result.reason : "");
  return result;
}

void Supervisor::end_evaluator(const GenerationResult& result) {
  const bool failed = result.kind == GenerationResult::Kind::failed;
  if (result.kind == GenerationResult::Kind::finished && evaluator_.running()) set_phase("evaluating");
  evaluator_.signal(SIGTERM);
  double deadline = monotonic_seconds() + (failed ? kFailedEvaluatorSeconds : kEvaluatorSeconds);
  std::string beat;
  while (evaluator_.running()) {
    const auto newest = failed ? std::nullopt : read_heartbeat(folder_.evaluator_heartbeat());
    if (newest && newest->text != beat) {  // it makes progress, however long it takes
      beat = newest->text;
      deadline = monotonic_seconds() + kEvaluatorSeconds;
    }
    if (monotonic_seconds() >= deadline || stop_now()) evaluator_.kill();
    wait_and_look();
  }
}

void Supervisor::conclude(const GenerationResult& result) {
  settle_nodes(true);
  watch_.look_at_metrics(journal_);
  reports_.finish([this](const std::string& kind, const Json& fields) { journal_.event(kind, fields); });
  std::set<int> kept = tensorboard_.spared();
  kept.insert({guard_->process().pid, samples_.asker()});
  Sweep sweep([&] {
    kept.merge(notifier_.spared());
    std::vector<NamedProcess> all = find_marked(folder_.dir(), kept);
    const std::vector<NamedProcess> below = find_descendants(::getpid(), kept);
    all.insert(all.end(), below.begin(), below.end());
    return all;
  });
  if (!sweep.run(kSweepSeconds)) {
    for (const NamedProcess& one : sweep.left()) {
      std::fprintf(stderr, "agent: warning: process %d (%s) of this run could not be ended\n", one.process.pid,
                   one.what.c_str());
    }
  }
  reap();
  gpu_locks_.give_back();

  using Kind = GenerationResult::Kind;
  if (state_.phase == "queued") state_.started = now_seconds();
  state_.phase = result.kind == Kind::finished ? "finished" : result.kind == Kind::stopped ? "stopped" : "failed";
  state_.ended = now_seconds();
  state_.exit_code = result.exit_code;
  state_.reason = result.reason;
  state_.evaluator.reset();
  Json end{{"phase", state_.phase},
           {"exit_code", result.exit_code},
           {"reason", json_or_null(result.reason)},
           {"seconds", *state_.ended - state_.started}};
  journal_.event("finished", end);
  save_state();
  end.erase("phase");
  end["status"] = state_.phase;
  notifier_.tell(state_.phase, end, journal_);
  wait_for_disk();
  finish_mirror();
  notifier_.finish();
}

/// How a run ended is worth a wait: without it the run reads as interrupted, without a reason.
void Supervisor::wait_for_disk() {
  const double deadline = monotonic_seconds() + kLastWordsSeconds;
  while (monotonic_seconds() < deadline && !is_gone(folder_.dir())) {
    save_what_waits();
    if (state_saved_ && journal_.retry()) return;
    const sigset_t handled = handled_signals();
    const timespec tick{0, kTickNanoseconds};
    const int number = ::sigtimedwait(&handled, nullptr, &tick);
    if (stop_mode(number)) return;
  }
}

std::set<int> Supervisor::spared() const {
  std::set<int> pids = tensorboard_.spared();
  pids.insert({guard_->process().pid, samples_.asker(), reports_.pid()});
  if (evaluator_.process()) {
    pids.insert(evaluator_.process()->pid);
    for (const NamedProcess& one : find_descendants(evaluator_.process()->pid, {})) pids.insert(one.process.pid);
  }
  return pids;
}

}  // namespace trainyard
