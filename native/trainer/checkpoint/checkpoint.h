// Checkpoints on disk as docs/contracts.md describes them: safetensors plus a manifest, complete or absent.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// One tensor to write: not owned.
struct TensorView {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;
};

/// An integer scalar (batch norm's num_batches_tracked), stored as I64 with an empty shape.
struct CounterView {
  std::string name;
  int64_t value = 0;
};

struct CheckpointContents {
  int64_t step = 0;
  std::string model;
  int classes = 0;
  std::vector<TensorView> tensors;     ///< model.safetensors, in this order
  std::vector<CounterView> counters;   ///< also into model.safetensors
  std::vector<TensorView> optimizer;   ///< optimizer.safetensors
  nlohmann::json state;                ///< state.json
};

struct CheckpointInfo {
  int64_t step = 0;
  std::string path;      ///< absolute or as the run folder was given: <run>/checkpoints/step-00000120
  uint64_t bytes = 0;
  double time = 0;
  bool valid = false;
  std::string reason;    ///< why not valid, naming the file
};

/// Writes <run_dir>/checkpoints/step-<8 digits> and returns what it wrote. Throws Error(Exit::data) naming path and errno
/// (full disk among them) after removing its temporary folder; older checkpoints are never touched by a failure.
CheckpointInfo save_checkpoint(const std::string& run_dir, const CheckpointContents& contents);

/// All checkpoints, oldest first. `verify` reads every byte and compares SHA-256; otherwise sizes only.
std::vector<CheckpointInfo> list_checkpoints(const std::string& run_dir, bool verify);

/// The newest valid one by SHA-256 (stops at the first valid from the newest down).
std::optional<CheckpointInfo> newest_valid_checkpoint(const std::string& run_dir);

/// Keeps the newest `keep` valid ones and `best_step` (if any); never deletes the last valid one. Removes invalid ones
/// older than the newest valid, and leftover .tmp-* folders. Deletion renames first, so no half-deleted one looks whole.
void prune_checkpoints(const std::string& run_dir, int keep, std::optional<int64_t> best_step);

/// A checkpoint (or a bare .safetensors file) read into memory, checked against its manifest where there is one.
class LoadedTensors {
 public:
  struct Entry {
    std::string name;
    std::string dtype;  ///< "F32", "I64"
    std::vector<int64_t> shape;
    size_t begin = 0;   ///< byte offsets into the data
    size_t end = 0;
  };
  /// Throws Error(Exit::data) for a file that is not a well-formed safetensors file (every length is checked).
  static LoadedTensors read(const std::string& path);
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  /// F32 values. Throws Error(Exit::data) when missing, of another dtype, or of another number of elements.
  void copy(const std::string& name, const std::vector<int64_t>& shape, std::span<float> out) const;
  int64_t counter(const std::string& name) const;

 private:
  std::vector<Entry> entries_;
  std::string data_;
};

/// state.json of a checkpoint folder.
nlohmann::json read_checkpoint_state(const std::string& checkpoint);

}  // namespace trainyard
