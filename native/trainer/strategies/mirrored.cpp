#include "trainer/strategies/mirrored.h"

#include <cmath>

#include "trainer/comm/everyones_group.h"
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

/// Workers whose weights and gradients stay on their devices, which sum gradients among themselves.
/// The host hears of the sums of figures alone.
class OnDevice final : public Lockstep {
 public:
  OnDevice(Communicator& workers, const Variables& variables, DeviceOptimizer& device)
      : Lockstep(workers, variables,
                 [&device, arena = variables.gradients.data()](std::span<float> bucket) {
                   const auto begin = static_cast<size_t>(bucket.data() - arena);
                   device.start_sum(begin, begin + bucket.size());
                 }),
        device_(device),
        grouped_(workers.world() > 1) {
    if (grouped_) device_.join(everyones_group(workers, [&device] { return device.new_group_id(); }));
  }

  void distribute() override { grouped_ ? device_.share() : device_.state_changed(); }
  bool gradients_are_everyones() const override { return true; }
  void sum(StepSums& sums) override {
    Lockstep::sum(sums);
    if (grouped_) device_.wait_for_sums();
  }
  double take_waited_ms() override { return Lockstep::take_waited_ms() + (grouped_ ? device_.take_waited_ms() : 0.0); }
  double apply(const Update& update, StepSums& /*sums*/) override {
    double norm = 0;
    if (update.clip_norm > 0) norm = device_.clip(update.clip_norm);
    if (std::isfinite(norm)) device_.step(update.lr, update.number);
    return norm;
  }
  std::vector<OptimizerState> state() override { return device_.state(); }
  /// Every rank's weights are the same, and rank 0 alone saves them.
  void collect() override {
    if (workers().rank() == 0) device_.fetch();
  }

 private:
  DeviceOptimizer& device_;  ///< the network's
  bool grouped_;             ///< there are others
};

/// The network's own optimizer on its device, where it offers one and nothing has to come to the
/// host; else none.
DeviceOptimizer* device_optimizer(const Communicator& workers, const Variables& variables,
                                  const OptimizerOptions& options) {
  if (!variables.on_device || (workers.world() > 1 && !variables.device_sums)) return nullptr;
  std::vector<ParameterRange> ranges = variables.ranges;
  fill_decay(options, ranges);
  std::vector<std::string> suffixes;
  for (const OptimizerState& state : make_optimizer(options, {}, 0)->state()) suffixes.push_back(state.suffix);
  return variables.on_device(options, ranges, suffixes);
}

}  // namespace

std::unique_ptr<Strategy> make_mirrored(Communicator& workers, const Variables& variables,
                                        const OptimizerOptions& optimizer) {
  if (DeviceOptimizer* device = device_optimizer(workers, variables, optimizer)) {
    return std::make_unique<OnDevice>(workers, variables, *device);
  }
  return std::make_unique<Mirrored>(workers, variables, optimizer);
}

}  // namespace trainyard
