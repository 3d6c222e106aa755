// Where variables live and how the workers' gradients become one update of them. One file a
// strategy.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/comm/communicator.h"
#include "trainer/optim/device_optimizer.h"
#include "trainer/optim/optimizer.h"
#include "trainer/strategies/buckets.h"
#include "trainer/strategies/report.h"

namespace trainyard {

/// A worker's copy of what is trained: whole arenas, fp32, laid out alike.
struct Variables {
  std::span<float> weights;
  std::span<float> gradients;
  std::vector<ParameterRange> ranges;  ///< the tensors in them
  DeviceOptimizerMaker on_device{};    ///< where they may stay on a device
  bool device_sums = false;            ///< the workers' devices can sum among themselves (use_nccl)
  size_t bucket_bytes = usual_bucket_bytes;
};

/// Sums over the workers whose gradients an update is made of.
struct StepSums {
  double images = 0;
  double loss = 0;
  double top1 = 0;    ///< images
  double stop = 0;    ///< workers that ask for it
  double finish = 0;  ///< the same
};

/// One update.
struct Update {
  int64_t number = 0;  ///< the worker's step, from 1
  float lr = 0;
  double clip_norm = 0;  ///< 0: never
};

/// A worker's part in a strategy. All workers of a world call the same functions in the same order.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Makes rank 0's weights, and its state(), everyone's or the servers'. Before the first step,
  /// after rank 0 has read a checkpoint.
  virtual void distribute() = 0;
  /// How many workers' gradients make one update: a step's gradients are scaled by it.
  virtual int workers_an_update() const = 0;
  /// The network's report that gradients [begin, …) of this step are final. Ranges come in falling
  /// order.
  virtual void ready(size_t begin) = 0;
  /// After the last range: `sums` of this worker become those of an update.
  virtual void sum(StepSums& sums) = 0;
  /// Whether between sum() and apply() every worker holds the update's gradients, as scaling the
  /// loss needs.
  virtual bool gradients_are_everyones() const { return false; }
  /// Turns gradients into new weights on this worker. Returns the gradient's length before
  /// clipping, 0 where nothing clips; where that is not finite, nothing was changed. `sums.stop`
  /// and `sums.finish` are above 0 afterwards where this step is to be the last.
  virtual double apply(const Update& update, StepSums& sums) = 0;
  /// Milliseconds this rank stood waiting for others since the last call.
  virtual double take_waited_ms() = 0;

  /// What the optimizer remembers, as whole arenas; on rank 0 only. Filled from a checkpoint before
  /// distribute().
  virtual std::vector<OptimizerState> state() = 0;
  /// Brings weights and state() of rank 0 up to date for a checkpoint, all workers at the same
  /// step.
  virtual void collect() = 0;
  /// Figures of every rank, on rank 0. mine: of this one.
  virtual Report report(const RankFigures& mine) = 0;
  /// The run is over, or stopped; servers may go home.
  virtual void end(bool stopped) = 0;
};

using StrategyMaker = std::function<std::unique_ptr<Strategy>(Communicator& workers, const Variables& variables,
                                                              const OptimizerOptions& optimizer)>;

}  // namespace trainyard
