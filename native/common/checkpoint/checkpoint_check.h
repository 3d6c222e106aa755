// Whether a folder is a whole checkpoint. The one notion of it, for trainer and agent: the manifest
// parses and names the three files, and every file that it names has the size and, if asked for,
// the SHA-256.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "common/checkpoint/checkpoint_manifest.h"
#include "common/files.h"
#include "common/hash/sha256.h"

namespace trainyard {

struct CheckpointInfo {
  int64_t step = 0;
  std::string path;  ///< absolute or as the run folder was given: <run>/checkpoints/step-00000120
  uint64_t bytes = 0;
  double time = 0;
  bool valid = false;
  std::string reason;  ///< why not valid, naming the file
};

/// Checks one folder in steps. The caller may do other work between two steps.
class CheckpointCheck {
 public:
  /// Looks at the manifest and the sizes. `folder` ought to hold the checkpoint of `step`. Throws
  /// nothing: what is wrong stands in info().reason.
  CheckpointCheck(const std::string& folder, int64_t step, bool verify);
  /// Reads and hashes 4 MiB more at most. True when all is known.
  bool advance();
  /// `valid` says what is known so far.
  const CheckpointInfo& info() const { return info_; }

 private:
  void hash_some();
  void fail(const std::string& reason);

  CheckpointInfo info_;
  Manifest manifest_;
  size_t next_ = 0;  ///< of the manifest's files: those before it are hashed
  Descriptor open_;
  std::optional<Sha256> hash_;
};

/// The whole check at once.
CheckpointInfo inspect_checkpoint(const std::string& folder, int64_t step, bool verify);

}  // namespace trainyard
