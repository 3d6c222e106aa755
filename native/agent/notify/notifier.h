// Sends messages about a run (docs/contracts/notify.md). A separate process sends each. Its failure
// does not affect the run.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"
#include "agent/run/journal.h"
#include "common/process.h"

namespace trainyard {

class Notifier {
 public:
  Notifier(const RunFolder& folder, const RunSpec& spec);

  /// Starts what sends a message of this kind, where the run has it sent. `facts`: what the message
  /// says beside the run's names. Never throws; what cannot be started is journaled.
  void tell(const std::string& kind, Json facts, Journal& journal);
  /// Sends the message that belongs to an event, if there is one. `phase`: of the run.
  void heard(const std::string& event, const Json& fields, const std::string& phase, Journal& journal);
  /// The living processes that send, with what they started: none of the run's.
  std::set<int> spared() const;
  /// Waits until all have been sent, where the end of this process would end them too: in a job of
  /// Slurm's. 65 s at most: the program ends itself after 60 s.
  void finish() const;

 private:
  RunFolder folder_;
  std::set<std::string> kinds_;
  std::string python_, program_;
  std::vector<ProcessId> sending_;
};

}  // namespace trainyard
