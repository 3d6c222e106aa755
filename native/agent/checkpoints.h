// A run's checkpoints as their manifests tell them, without the trainer's help.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/json.h"
#include "agent/run_folder.h"
#include "common/files.h"
#include "trainer/base/sha256.h"

namespace trainyard {

class CheckpointListing {
 public:
  /// Finds checkpoints/step-*, oldest first, and checks that every file of their manifests has its size.
  explicit CheckpointListing(const RunFolder& folder);

  /// Hashes the next few MiB; true when all is hashed. A file that differs makes its checkpoint invalid.
  bool verify_some();

  /// {checkpoints:[{step, path, bytes, time, valid, reason}]}; path is relative to the run folder.
  Json to_json() const;

 private:
  struct File {
    size_t checkpoint = 0;  ///< index
    std::string name, path, sha256;
  };
  struct Checkpoint {
    int64_t step = 0;
    std::string path;
    uint64_t bytes = 0;
    double time = 0;
    std::optional<std::string> reason;  ///< why it is not valid
  };

  void read_manifest(const std::string& dir, Checkpoint& checkpoint);
  void finish_file(const File& file, const std::string& digest);

  std::vector<Checkpoint> checkpoints_;
  std::vector<File> files_;  ///< to be hashed
  size_t next_file_ = 0;
  Descriptor open_;
  std::optional<Sha256> hash_;
};

}  // namespace trainyard
