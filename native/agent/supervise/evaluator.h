// The evaluator beside a run: one low-priority process that follows its checkpoints.
#pragma once
#include <optional>

#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"
#include "agent/run/journal.h"
#include "agent/run/log_times.h"
#include "agent/system/spawn.h"

namespace trainyard {

class Evaluator {
 public:
  /// Starts it and journals that. One that cannot be started is journaled as ended: training goes
  /// on without it.
  void start(const RunFolder& folder, const RunSpec& spec, int generation, Journal& journal);

  /// Whether it ended by itself or was killed, and the time has come to start it again: after 2 s,
  /// 4 s, … and five times at most in a generation. Not after a mistake of the user's, which would
  /// be the same.
  bool is_due_again() const;

  /// Notes when its log grew; to be called often.
  void look_at_log();

  /// One that was killed a minute ago and has not ended counts no longer: a driver or disk holds it.
  bool running() const;
  const std::optional<ProcessId>& process() const { return process_; }

  /// To be told of every ended child; true when it was the evaluator.
  bool child_ended(int pid, int status, Journal& journal);
  /// It is to end: whatever ends it now is expected.
  void signal(int number);
  /// Itself and everything it started, likewise.
  void kill();

 private:
  int generation_ = 0;
  int failures_ = 0;      ///< in this generation
  double again_at_ = 0;   ///< monotonic seconds; 0: never
  double killed_at_ = 0;  ///< monotonic seconds; 0: it was not killed
  bool wanted_ = false;
  std::optional<ProcessId> process_;
  std::optional<LogTimes> times_;
};

}  // namespace trainyard
