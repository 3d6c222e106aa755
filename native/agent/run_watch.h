// What a supervisor looks at beside its processes: checkpoints that the metrics tell of, and the disk.
#pragma once
#include "agent/journal.h"
#include "agent/run_folder.h"
#include "agent/tail.h"

namespace trainyard {

class RunWatch {
 public:
  explicit RunWatch(const RunFolder& folder) : folder_(folder), metrics_(folder.metrics()) {}

  /// Journals new lines of the kinds checkpoint and checkpoint_failed.
  void look_at_metrics(Journal& journal);
  /// Journals once that less than 1 GiB is free; looks every 10 s at most.
  void look_at_disk(Journal& journal);

 private:
  RunFolder folder_;
  Tail metrics_;
  double next_disk_look_ = 0;  ///< monotonic seconds
  bool disk_was_low_ = false;
};

}  // namespace trainyard
