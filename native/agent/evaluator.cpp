#include "agent/evaluator.h"

#include <signal.h>
#include <sys/wait.h>

#include "agent/kill.h"
#include "common/error.h"

namespace trainyard {

void Evaluator::start(const RunFolder& folder, const RunSpec& spec, int generation, Journal& journal) {
  Command command;
  command.argv = spec.evaluator_command(folder.dir());
  command.env = clean_environment();
  for (const auto& [name, value] : spec.env) command.env[name] = value;
  command.env["OMP_NUM_THREADS"] = std::to_string(spec.evaluator->threads);
  command.env[kRunVariable] = folder.dir();
  command.env["TRAINYARD_GENERATION"] = std::to_string(generation);
  command.cwd = folder.dir();
  command.log = folder.log("eval");
  command.nice = spec.evaluator->nice;
  command.death_signal = SIGKILL;
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
  const bool signalled = WIFSIGNALED(status);
  journal.event("evaluator_exited", {{"pid", pid},
                                     {"exit_code", signalled ? Json(nullptr) : Json(WEXITSTATUS(status))},
                                     {"signal", signalled ? Json(WTERMSIG(status)) : Json(nullptr)}});
  return true;
}

void Evaluator::signal(int number) const {
  if (process_) signal_process(*process_, number);
}

void Evaluator::kill() const {
  if (!process_) return;
  for (const NamedProcess& one : find_descendants(process_->pid, {})) signal_process(one.process, SIGKILL);
  signal_process(*process_, SIGKILL);
}

}  // namespace trainyard
