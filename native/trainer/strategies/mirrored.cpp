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
        device_(on_device(workers, variables, optimizer)),
        optimizer_(device_ != nullptr ? nullptr
                                      : make_optimizer(optimizer, variables.ranges, variables.weights.size())) {}

  void distribute() override {
    if (device_ != nullptr) {
      device_->state_changed();
      return;
    }
    workers().broadcast(variables().weights, 0);
    for (const OptimizerState& state : optimizer_->state()) workers().broadcast(state.values, 0);
  }
  bool gradients_are_everyones() const override { return true; }
  double apply(const Update& update, StepSums& /*sums*/) override {
    double norm = 0;
    if (device_ != nullptr) {
      if (update.clip_norm > 0) norm = device_->clip(update.clip_norm);
      if (std::isfinite(norm)) device_->step(update.lr, update.number);
      return norm;
    }
    if (update.clip_norm > 0) norm = clip_to_length(variables().gradients, update.clip_norm);
    if (!std::isfinite(norm)) return norm;
    optimizer_->step(variables().weights, variables().gradients, update.lr, update.number);
    return norm;
  }
  std::vector<OptimizerState> state() override { return device_ != nullptr ? device_->state() : optimizer_->state(); }
  void collect() override {
    if (device_ != nullptr) device_->fetch();
  }

 private:
  /// Where nobody else's gradients are needed, nothing has to come to the host.
  static DeviceOptimizer* on_device(const Communicator& workers, const Variables& variables,
                                    const OptimizerOptions& options) {
    if (!variables.on_device || workers.world() > 1) return nullptr;
    std::vector<ParameterRange> ranges = variables.ranges;
    fill_decay(options, ranges);
    std::vector<std::string> suffixes;
    for (const OptimizerState& state : make_optimizer(options, {}, 0)->state()) suffixes.push_back(state.suffix);
    return variables.on_device(options, ranges, suffixes);
  }

  DeviceOptimizer* device_;  ///< the network's, or none
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace

std::unique_ptr<Strategy> make_mirrored(Communicator& workers, const Variables& variables,
                                        const OptimizerOptions& optimizer) {
  return std::make_unique<Mirrored>(workers, variables, optimizer);
}

}  // namespace trainyard
