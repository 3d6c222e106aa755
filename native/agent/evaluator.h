// The evaluator beside a run: one low-priority process that follows its checkpoints.
#pragma once
#include <optional>

#include "agent/journal.h"
#include "agent/run_folder.h"
#include "agent/run_spec.h"
#include "agent/spawn.h"

namespace trainyard {

class Evaluator {
 public:
  /// Starts it and journals that. One that cannot be started is journaled as ended: training goes on without it.
  void start(const RunFolder& folder, const RunSpec& spec, int generation, Journal& journal);

  bool running() const { return process_.has_value(); }
  const std::optional<ProcessId>& process() const { return process_; }

  /// To be told of every ended child; true when it was the evaluator.
  bool child_ended(int pid, int status, Journal& journal);
  void signal(int number) const;
  /// Itself and everything it started.
  void kill() const;

 private:
  std::optional<ProcessId> process_;
};

}  // namespace trainyard
