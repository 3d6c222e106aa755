// One step of data-parallel training: this rank's gradients, summed over all ranks, applied the same way on each.
#pragma once
#include <cstdint>
#include <memory>

#include "trainer/comm/communicator.h"
#include "trainer/models/network.h"
#include "trainer/optim/optimizer.h"
#include "trainer/strategies/all_reduce.h"

namespace trainyard {

/// What the whole world did in one step.
struct StepOutcome {
  double loss = 0;     ///< mean over the global batch
  double top1 = 0;     ///< fraction of the global batch
  bool stop = false;   ///< some rank was asked to stop; the same on every rank
  double comm_ms = 0;  ///< this rank's wait for all-reduce
};

struct StepOptions {
  OptimizerOptions optimizer;
  bool sync_batch_norm = false;
};

class TrainingStep {
 public:
  TrainingStep(Communicator& communicator, const NetworkOptions& network, const StepOptions& options);
  ~TrainingStep();
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  Network& network() { return *network_; }
  Optimizer& optimizer() { return *optimizer_; }

  /// Makes rank 0's weights, running statistics and optimizer state everyone's.
  void broadcast();
  /// Update `number` (counted from 1). `stop_wanted`: this rank was asked to stop. Throws Error(Exit::data) when the
  /// loss is not finite.
  StepOutcome run(const BatchView& batch, int64_t number, double lr, bool stop_wanted);

 private:
  class Reducer;
  Communicator& communicator_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<AllReduce> all_reduce_;
};

}  // namespace trainyard
