// The TensorBoard that a run asked for, as its supervisor sees it: started once, journaled, never a
// reason to fail.
#pragma once
#include <memory>
#include <optional>
#include <set>

#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"
#include "agent/run/journal.h"
#include "agent/tensorboard/tensorboard.h"

namespace trainyard {

class TensorboardWatch {
 public:
  void start(const RunFolder& folder, const RunSpec& spec, Journal& journal);
  /// To be called about twice a second.
  void look(Journal& journal);
  /// To be told of every ended child.
  void child_ended(int pid, int status, Journal& journal);
  /// Its process, which outlives the run.
  std::set<int> spared() const;

 private:
  void failed(const std::string& message, Journal& journal);

  std::unique_ptr<TensorboardStart> starting_;
  std::optional<TensorboardProcess> serving_;
};

}  // namespace trainyard
