// A run's checkpoints for the client, checked as the trainer checks them.
#pragma once
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"
#include "common/checkpoint/checkpoint_check.h"

namespace trainyard {

class CheckpointListing {
 public:
  /// Finds the run's checkpoints, oldest first, and looks at their manifests and sizes; `verify`:
  /// verify_some() then compares the hashes. Throws file_error.
  CheckpointListing(const RunFolder& folder, bool verify);

  /// Hashes the next few MiB; true when all is hashed.
  bool verify_some();

  /// {checkpoints:[{step, path, bytes, time, valid, reason}]}; path is relative to the run folder.
  Json to_json() const;

 private:
  std::string dir_;
  std::vector<CheckpointCheck> checks_;
  size_t next_ = 0;
};

}  // namespace trainyard
