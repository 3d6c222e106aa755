// What a supervisor looks at beside its processes: checkpoints that the metrics tell of, and the
// disk.
#pragma once
#include <cstdint>
#include <optional>

#include "agent/run/folder/run_folder.h"
#include "agent/run/journal.h"
#include "agent/system/tail.h"

namespace trainyard {

class RunWatch {
 public:
  explicit RunWatch(const RunFolder& folder) : metrics_(folder.metrics()) {}

  /// Journals new lines of the kinds checkpoint, checkpoint_failed and checkpoint_passed_over.
  void look_at_metrics(Journal& journal);
  /// Journals once that less than 1 GiB is free. `free`: bytes, nothing while the file system gives
  /// no answer.
  void look_at_disk(std::optional<uint64_t> free, Journal& journal);

 private:
  Tail metrics_;
  bool disk_was_low_ = false;
};

}  // namespace trainyard
