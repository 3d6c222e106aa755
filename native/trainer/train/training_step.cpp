#include "trainer/train/training_step.h"

#include <array>
#include <cmath>
#include <vector>

#include "common/error.h"

namespace trainyard {

class TrainingStep::Reducer final : public StatisticsReducer {
 public:
  explicit Reducer(Communicator& communicator) : communicator_(communicator) {}
  void sum(double* values, size_t count) override { communicator_.sum(std::span<double>(values, count)); }
  int world() const override { return communicator_.world(); }

 private:
  Communicator& communicator_;
};

TrainingStep::TrainingStep(Communicator& communicator, const NetworkOptions& network, const StepOptions& options)
    : communicator_(communicator) {
  NetworkOptions wanted = network;
  if (options.sync_batch_norm && communicator.world() > 1) {
    reducer_ = std::make_unique<Reducer>(communicator);
    wanted.sync_batch_norm = reducer_.get();
  }
  network_ = make_network(wanted);
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& parameter : network_->parameters()) {
    ranges.push_back({.offset = parameter.offset, .size = parameter.size, .adapt = parameter.decay});
  }
  optimizer_ = make_optimizer(options.optimizer, std::move(ranges), network_->weights().size());
  all_reduce_ = std::make_unique<AllReduce>(communicator, network_->gradients());
}

TrainingStep::~TrainingStep() = default;

void TrainingStep::broadcast() {
  communicator_.broadcast(network_->weights(), 0);
  if (!network_->running_statistics().empty()) communicator_.broadcast(network_->running_statistics(), 0);
  for (const OptimizerState& state : optimizer_->state()) communicator_.broadcast(state.values, 0);
  network_->weights_changed();
}

StepOutcome TrainingStep::run(const BatchView& batch, int64_t number, double lr, bool stop_wanted) {
  const double global_batch = static_cast<double>(batch.count) * communicator_.world();
  const StepResult mine = network_->train_step(batch, static_cast<float>(1.0 / global_batch),
                                               [this](size_t begin, size_t end) { all_reduce_->ready(begin, end); });
  std::array<double, 3> sums = {mine.loss_sum, static_cast<double>(mine.top1), stop_wanted ? 1.0 : 0.0};
  communicator_.start_sum(std::span<double>(sums));
  StepOutcome outcome;
  outcome.comm_ms = all_reduce_->finish();
  outcome.loss = sums[0] / global_batch;
  outcome.top1 = sums[1] / global_batch;
  outcome.stop = sums[2] > 0;
  if (!std::isfinite(outcome.loss)) {
    throw Error(Exit::data,
                "the loss is no longer a finite number. Lower --lr, add --warmup-epochs, and go on from the last "
                "checkpoint (--resume auto)");
  }
  optimizer_->step(network_->weights(), network_->gradients(), static_cast<float>(lr), number);
  network_->weights_changed();
  return outcome;
}

}  // namespace trainyard
