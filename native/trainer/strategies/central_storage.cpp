#include "trainer/strategies/central_storage.h"

#include <cmath>

#include "common/stopwatch.h"
#include "trainer/optim/clip.h"
#include "trainer/strategies/lockstep.h"

namespace trainyard {
namespace {

class CentralStorage final : public Lockstep {
 public:
  CentralStorage(Communicator& workers, const Variables& variables, const OptimizerOptions& optimizer)
      : Lockstep(workers, variables, [&workers](std::span<float> bucket) { workers.start_sum_at_first(bucket); }) {
    if (workers.rank() == 0) optimizer_ = make_optimizer(optimizer, variables.ranges, variables.weights.size());
  }

  void distribute() override { workers().broadcast(variables().weights, 0); }
  double apply(const Update& update, StepSums& /*sums*/) override {
    double norm = 0;
    if (update.clip_norm > 0) {
      if (optimizer_) norm = clip_to_length(variables().gradients, update.clip_norm);
      // All must know it, to end together where it is no number.
      norm = workers().gather(std::span<const double>(&norm, 1)).front();
    }
    if (!std::isfinite(norm)) return norm;
    if (optimizer_) optimizer_->step(variables().weights, variables().gradients, update.lr, update.number);
    const Stopwatch clock;
    workers().broadcast(variables().weights, 0);
    waited(clock.milliseconds());
    return norm;
  }
  std::vector<OptimizerState> state() override {
    return optimizer_ ? optimizer_->state() : std::vector<OptimizerState>{};
  }
  void collect() override {}

 private:
  std::unique_ptr<Optimizer> optimizer_;  ///< rank 0 only
};

}  // namespace

std::unique_ptr<Strategy> make_central_storage(Communicator& workers, const Variables& variables,
                                               const OptimizerOptions& optimizer) {
  return std::make_unique<CentralStorage>(workers, variables, optimizer);
}

}  // namespace trainyard
