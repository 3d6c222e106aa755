// One step of data-parallel training: this rank's gradients, which a strategy makes one update of
// all weights.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainer/comm/communicator.h"
#include "trainer/models/network.h"
#include "trainer/optim/loss_scaler.h"
#include "trainer/optim/optimizer.h"
#include "trainer/strategies/mirrored.h"
#include "trainer/strategies/strategy.h"
#include "trainer/train/loop/accumulator.h"
#include "trainer/train/weights/finite.h"

namespace trainyard {

/// What a rank asks of all of them; granted to everyone when anyone asks.
struct Wishes {
  bool stop = false;    ///< a person or the supervisor wants the run to stop
  bool finish = false;  ///< there is nothing more to gain
};

/// What the workers of one update did: all of them, or this one where they do not wait for each
/// other.
struct StepOutcome {
  double loss = 0;           ///< mean over their batches
  double top1 = 0;           ///< fraction of their batches
  Wishes wishes;             ///< the same on every worker after the same step
  double comm_ms = 0;        ///< this rank's wait for others
  double gradient_norm = 0;  ///< before clipping; 0 where nothing clips
  bool skipped = false;      ///< the scaled gradients were not finite: weights and optimizer are as before
};

struct StepOptions {
  OptimizerOptions optimizer{};
  bool sync_batch_norm = false;
  int accumulate = 1;                               ///< micro-batches a step, whose gradients are averaged
  std::optional<LossScalerOptions> loss_scaling{};  ///< for storage that small gradients vanish in: fp16
  double clip_norm = 0;                             ///< the longest gradient, over an update's mean; 0: any
  bool device_sums = false;                         ///< see Variables
  size_t bucket_bytes = usual_bucket_bytes;         ///< of gradients that are sent off together
};

using Ahead = std::function<std::optional<BatchView>()>;

class TrainingStep {
 public:
  /// network.batch: images of one micro-batch. workers: those that train.
  TrainingStep(Communicator& workers, const NetworkOptions& network, const StepOptions& options,
               const StrategyMaker& strategy = make_mirrored);
  ~TrainingStep();
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  Network& network() { return *network_; }
  Strategy& strategy() { return *strategy_; }
  /// The network's, where training stays on its device; else nullptr.
  DeviceOptimizer* device() { return device_; }
  /// nullptr where the loss is not scaled.
  const LossScaler* loss_scaler() const { return loss_scaler_ ? &*loss_scaler_ : nullptr; }

  /// Goes on from a checkpoint's loss scale, of which rank 0's is everyone's after distribute().
  void restore_loss_scaler(const LossScalerState& state);

  /// Makes rank 0's weights, running statistics, optimizer state and loss scale those of the run.
  void distribute();
  /// Whether weights and running statistics are finite numbers; looked at where they are.
  bool is_finite() { return trainyard::is_finite(*network_, device_); }
  /// As trainyard::first_not_finite. From then on this rank's host sees the weights, too, where
  /// they are a device's.
  std::string first_not_finite() { return trainyard::first_not_finite(*network_, device_); }
  /// Brings rank 0's weights and strategy().state() up to date for a checkpoint. All workers, at
  /// the same step.
  void collect();
  /// Update `number` (counted from 1) with a batch of network.batch * accumulate images. Throws
  /// Diverged naming the step, before anything is changed by it, when the loss or the clipped
  /// gradient is not finite, or when no scale of the loss makes the gradients so.
  /// `ahead` gives the batch of the next step, if there is one; it is called, where the device
  /// works beside the host, while it does, and what it gives is brought to it.
  StepOutcome run(const BatchView& batch, int64_t number, double lr, const Wishes& wishes, const Ahead& ahead = {});
  /// After run() threw, on rank 0: makes everything what the last whole step left. Returns whether
  /// that could be done: not once the step had begun to change weights, and not where there is no
  /// other rank.
  bool take_back();

 private:
  /// How far a step is. Forward and backward change running statistics alone, of which there is a
  /// copy.
  enum class Stage { none, computing, changing };
  bool can_take_back() const { return workers_.rank() == 0 && workers_.world() > 1; }
  void keep_statistics();
  class Reducer;
  /// Takes the scale out of the summed gradients. Returns whether the step counts.
  bool unscale(int64_t number);
  /// Micro-batch `part` of a batch.
  BatchView micro_batch(const BatchView& batch, int part) const;
  /// Forward and backward of every micro-batch; buckets start during the last one.
  StepResult compute(const BatchView& batch, float loss_scale, const Ahead& ahead);
  /// Milliseconds that this rank waited for others since the last call: for gradients, and for the
  /// statistics of all ranks.
  double take_waited_ms();
  /// The number, over all steps and ranks, of this rank's first image of update `number`.
  uint64_t first_image(const BatchView& batch, int64_t number) const;

  Communicator& workers_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Network> network_;
  DeviceOptimizer* device_ = nullptr;  ///< the network's, where training stays on its device
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<Accumulator> accumulator_;
  std::optional<LossScaler> loss_scaler_;
  int accumulate_;
  double clip_norm_;
  Stage stage_ = Stage::none;
  std::vector<float> statistics_;  ///< at the begin of the step; without a device
};

}  // namespace trainyard
