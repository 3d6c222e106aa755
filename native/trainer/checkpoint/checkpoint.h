// Checkpoints on disk as docs/contracts/checkpoints.md describes them: safetensors plus a manifest,
// complete or absent.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/checkpoint/checkpoint_list.h"

namespace trainyard {

class FileSystem;

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
  std::vector<TensorView> tensors;    ///< model.safetensors, in this order
  std::vector<CounterView> counters;  ///< also into model.safetensors
  std::vector<TensorView> optimizer;  ///< optimizer.safetensors
  nlohmann::json state;               ///< state.json
};

/// Writes <run_dir>/checkpoints/step-<8 digits> and returns what it wrote. Throws Error(Exit::data)
/// naming path and errno (full disk among them) after removing its temporary folder; older
/// checkpoints are never touched by a failure. A checkpoint that already stands at this step (a
/// resumed run reached it again) is replaced in one step. Only one process at a time may save or
/// prune in a run folder; any number may list and read.
CheckpointInfo save_checkpoint(const std::string& run_dir, const CheckpointContents& contents);
/// The same through a given file layer (tests let any of its calls fail).
CheckpointInfo save_checkpoint(const std::string& run_dir, const CheckpointContents& contents, FileSystem& files);

/// Keeps the newest `keep` valid ones and `best_step` (if any); never deletes the last valid one.
/// Removes invalid ones older than the newest valid, and leftover .tmp-* folders. Deletion renames
/// first, so no half-deleted one looks whole. Validity is by size, but nothing is deleted before a
/// newer one is known to be valid by SHA-256. Throws Error(Exit::data) when something cannot be
/// removed; what is left is as valid as before.
void prune_checkpoints(const std::string& run_dir, int keep, std::optional<int64_t> best_step);
void prune_checkpoints(const std::string& run_dir, int keep, std::optional<int64_t> best_step, FileSystem& files);

/// A checkpoint (or a bare .safetensors file) read into memory, checked against its manifest where
/// there is one.
class LoadedTensors {
 public:
  struct Entry {
    std::string name;
    std::string dtype;  ///< "F32", "I64"
    std::vector<int64_t> shape;
    size_t begin = 0;  ///< byte offsets into the data
    size_t end = 0;
  };
  /// A .safetensors file, or a checkpoint's folder (its model.safetensors). Throws
  /// Error(Exit::data) for a file that is not a well-formed safetensors file (every length is
  /// checked), or that differs from the manifest beside it.
  static LoadedTensors read(const std::string& path);
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  /// F32 values. Throws Error(Exit::data) when missing, of another dtype, or of another shape.
  void copy(const std::string& name, const std::vector<int64_t>& shape, std::span<float> out) const;
  /// An I64 of one element. Throws Error(Exit::data) when missing or of another dtype or size.
  int64_t counter(const std::string& name) const;

 private:
  const Entry& need(const std::string& name, const char* dtype) const;

  std::string path_;
  std::vector<Entry> entries_;
  std::string data_;
};

/// state.json of a checkpoint folder, checked against its manifest. Throws Error(Exit::data).
nlohmann::json read_checkpoint_state(const std::string& checkpoint);

}  // namespace trainyard
