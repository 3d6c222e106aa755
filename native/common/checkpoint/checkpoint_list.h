// A run's checkpoints, as whoever reads them finds them.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/checkpoint/checkpoint_check.h"

namespace trainyard {

/// The folders of all checkpoints with their steps, oldest first: absolute or as the run folder was
/// given. Throws file_error.
std::vector<std::pair<int64_t, std::string>> find_checkpoints(const std::string& run_dir);

/// All checkpoints, oldest first. `verify` reads every byte and compares SHA-256; otherwise sizes
/// only. Throws file_error.
std::vector<CheckpointInfo> list_checkpoints(const std::string& run_dir, bool verify);

struct NewestCheckpoint {
  std::optional<CheckpointInfo> valid;      ///< the newest that is valid by SHA-256
  std::vector<CheckpointInfo> passed_over;  ///< newer ones that are not, newest first, each with its reason
};

/// Looks from the newest down and stops at the first valid one; reads nothing of those of step
/// `above` and older. Throws file_error.
NewestCheckpoint find_newest_checkpoint(const std::string& run_dir, std::optional<int64_t> above = std::nullopt);

/// What the above finds, for who does not ask what was passed over.
std::optional<CheckpointInfo> newest_valid_checkpoint(const std::string& run_dir);

}  // namespace trainyard
