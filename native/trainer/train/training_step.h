// One step of data-parallel training: this rank's gradients, summed over all ranks, applied the same way on each.
#pragma once
#include <cstdint>
#include <memory>

#include "trainer/comm/communicator.h"
#include "trainer/models/network.h"
#include "trainer/optim/optimizer.h"
#include "trainer/strategies/all_reduce.h"
#include "trainer/train/accumulator.h"

namespace trainyard {

/// What a rank asks of all of them; granted to everyone when anyone asks.
struct Wishes {
  bool stop = false;    ///< a person or the supervisor wants the run to stop
  bool finish = false;  ///< there is nothing more to gain
};

/// What the whole world did in one step.
struct StepOutcome {
  double loss = 0;           ///< mean over the global batch
  double top1 = 0;           ///< fraction of the global batch
  Wishes wishes;             ///< the same on every rank
  double comm_ms = 0;        ///< this rank's wait for all-reduce
  double gradient_norm = 0;  ///< before clipping; 0 where nothing clips
};

struct StepOptions {
  OptimizerOptions optimizer{};
  bool sync_batch_norm = false;
  int accumulate = 1;    ///< micro-batches a step, whose gradients are averaged
  double clip_norm = 0;  ///< the longest gradient, over the whole world's mean; 0: any
};

class TrainingStep {
 public:
  /// network.batch: images of one micro-batch.
  TrainingStep(Communicator& communicator, const NetworkOptions& network, const StepOptions& options);
  ~TrainingStep();
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  Network& network() { return *network_; }
  Optimizer& optimizer() { return *optimizer_; }

  /// Makes rank 0's weights, running statistics and optimizer state everyone's.
  void broadcast();
  /// Update `number` (counted from 1) with a batch of network.batch * accumulate images. Throws Diverged naming the
  /// step, before anything is changed by it, when the loss or the clipped gradient is not finite.
  StepOutcome run(const BatchView& batch, int64_t number, double lr, const Wishes& wishes);

 private:
  class Reducer;
  /// Forward and backward of every micro-batch; buckets start during the last one.
  StepResult compute(const BatchView& batch, float loss_scale);
  /// The number, over all steps and ranks, of this rank's first image of update `number`.
  uint64_t first_image(const BatchView& batch, int64_t number) const;

  Communicator& communicator_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<AllReduce> all_reduce_;
  std::unique_ptr<Accumulator> accumulator_;
  int accumulate_;
  double clip_norm_;
};

}  // namespace trainyard
