#include "trainer/strategies/mirrored.h"

#include <cmath>

#include "trainer/optim/clip.h"
#include "trainer/strategies/lockstep.h"

namespace trainyard {
namespace {

class Mirrored final : public Lockstep {
 public:
  Mirrored(Communicator& workers, const Variables& variables, const OptimizerOptions& optimizer)
      : Lockstep(workers, variables, [&workers](std::span<float> bucket) { workers.start_sum(bucket); }),
        optimizer_(make_optimizer(optimizer, variables.ranges, variables.weights.size())) {}

  void distribute() override {
    workers().broadcast(variables().weights, 0);
    for (const OptimizerState& state : optimizer_->state()) workers().broadcast(state.values, 0);
  }
  bool gradients_are_everyones() const override { return true; }
  double apply(const Update& update, StepSums& /*sums*/) override {
    double norm = 0;
    if (update.clip_norm > 0) norm = clip_to_length(variables().gradients, update.clip_norm);
    if (!std::isfinite(norm)) return norm;
    optimizer_->step(variables().weights, variables().gradients, update.lr, update.number);
    return norm;
  }
  std::vector<OptimizerState> state() override { return optimizer_->state(); }
  void collect() override {}

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace

std::unique_ptr<Strategy> make_mirrored(Communicator& workers, const Variables& variables,
                                        const OptimizerOptions& optimizer) {
  return std::make_unique<Mirrored>(workers, variables, optimizer);
}

}  // namespace trainyard
