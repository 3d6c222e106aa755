#include "agent/supervise/evaluator.h"

#include <signal.h>
#include <sys/wait.h>

#include <cmath>

#include "agent/ranks/prologue.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr int kMostFailures = 5;

}  // namespace

void Evaluator::start(const RunFolder& folder, const RunSpec& spec, int generation, Journal& journal) {
  if (generation != generation_) failures_ = 0;
  generation_ = generation;
  again_at_ = killed_at_ = 0;
  process_.reset();  // of an earlier one only where it cannot be ended
  wanted_ = true;
  Command command;
  const std::string who = "the evaluator on " + host_name();
  command.argv = with_prologue(spec.prologue, who, "", spec.evaluator_command(folder.dir()));
  command.env = clean_environment();
  for (const auto& [name, value] : spec.env) command.env[name] = value;
  command.env["OMP_NUM_THREADS"] = std::to_string(spec.evaluator->threads);
  command.env[kRunVariable] = folder.dir();
  command.env["TRAINYARD_GENERATION"] = std::to_string(generation);
  command.cwd = folder.dir();
  command.log = folder.log("eval");
  command.nice = spec.evaluator->nice;
  command.death_signal = SIGKILL;
  times_.emplace(folder, "eval");
  try {
    process_ = start_child(command);
    journal.event("evaluator_started", {{"pid", process_->pid}});
  } catch (const Error& error) {
    journal.event("evaluator_exited",
                  {{"pid", 0}, {"exit_code", nullptr}, {"signal", nullptr}, {"message", error.what()}});
  }
}

bool Evaluator::child_ended(int pid, int status, Journal& journal) {
  if (!process_ || process_->pid != pid) return false;
  process_.reset();
  if (times_) times_->look_once_more();
  times_.reset();
  const bool signalled = WIFSIGNALED(status);
  const bool users_own = !signalled && WEXITSTATUS(status) != static_cast<int>(Exit::internal);
  if (wanted_ && !users_own && ++failures_ <= kMostFailures) again_at_ = monotonic_seconds() + std::exp2(failures_);
  journal.event("evaluator_exited", {{"pid", pid},
                                     {"exit_code", signalled ? Json(nullptr) : Json(WEXITSTATUS(status))},
                                     {"signal", signalled ? Json(WTERMSIG(status)) : Json(nullptr)}});
  return true;
}

void Evaluator::look_at_log() {
  if (times_) times_->look();
}

bool Evaluator::is_due_again() const { return again_at_ > 0 && monotonic_seconds() >= again_at_; }

void Evaluator::signal(int number) {
  wanted_ = false;
  again_at_ = 0;
  if (process_) signal_process(*process_, number);
}

bool Evaluator::running() const {
  return process_ && (killed_at_ == 0 || monotonic_seconds() - killed_at_ < kUnkillableSeconds);
}

void Evaluator::kill() {
  wanted_ = false;
  again_at_ = 0;
  if (!process_) return;
  if (killed_at_ == 0) killed_at_ = monotonic_seconds();
  for (const NamedProcess& one : find_descendants(process_->pid, {})) signal_process(one.process, SIGKILL);
  signal_process(*process_, SIGKILL);
}

}  // namespace trainyard
