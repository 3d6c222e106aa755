// Checkpoints are written beside the training that goes on: from a copy, one at a time.
#pragma once
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/stopwatch.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/train/loop/train_log.h"

namespace trainyard {

/// How one attempt to write a checkpoint ended.
struct CheckpointOutcome {
  std::string path;   ///< of the one that was written; empty after a failure
  std::string error;  ///< empty after a success
  Retry retry = Retry::pointless;
};

/// Writes one, removes those that are not kept, and says so in `log`. A failure leaves the older
/// ones as they are.
CheckpointOutcome write_checkpoint(const TrainOptions& options, TrainLog& log, const CheckpointContents& contents,
                                   double held_ms);

class CheckpointWriter {
 public:
  /// On a thread of its own, one call at a time. `held_ms`: milliseconds for which the training
  /// waited before it.
  using Write = std::function<CheckpointOutcome(const CheckpointContents& contents, double held_ms)>;

  explicit CheckpointWriter(Write write) : write_(std::move(write)) {}
  /// Waits for the one that is being written.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Copies what the views of `contents` show, and begins to write the copy. Where there is no
  /// memory for the copy, or no thread, it writes at once. Only after `settle`. `waiting`: since
  /// when the training waits.
  void begin(const CheckpointContents& contents, const Stopwatch& waiting);

  /// Waits for the one that is being written, and says how it ended; nothing where none is. What
  /// `write` threw, it throws.
  std::optional<CheckpointOutcome> settle();

 private:
  bool begin_beside(const CheckpointContents& contents, const Stopwatch& waiting);
  void own(std::vector<TensorView>& views);

  Write write_;
  std::vector<float> values_;    ///< of all tensors, one after another; its memory is kept
  CheckpointContents contents_;  ///< its views show values_
  std::future<CheckpointOutcome> under_way_;
};

}  // namespace trainyard
