#include "trainer/train/training_step.h"

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/optim/clip.h"
#include "trainer/train/finite.h"

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
    : communicator_(communicator), accumulate_(options.accumulate), clip_norm_(options.clip_norm) {
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
  accumulator_ = std::make_unique<Accumulator>(network_->gradients());
}

TrainingStep::~TrainingStep() = default;

void TrainingStep::broadcast() {
  communicator_.broadcast(network_->weights(), 0);
  if (!network_->running_statistics().empty()) communicator_.broadcast(network_->running_statistics(), 0);
  for (const OptimizerState& state : optimizer_->state()) communicator_.broadcast(state.values, 0);
  network_->weights_changed();
}

StepResult TrainingStep::compute(const BatchView& batch, float loss_scale) {
  const int micro = batch.count / accumulate_;
  const size_t image_bytes = static_cast<size_t>(batch.image_size) * static_cast<size_t>(batch.image_size) * 3;
  StepResult sum;
  accumulator_->clear();
  for (int part = 0; part < accumulate_; ++part) {
    const bool last = part + 1 == accumulate_;
    const auto first = static_cast<size_t>(part) * static_cast<size_t>(micro);
    const BatchView images{micro, batch.image_size, batch.images + first * image_bytes, batch.labels + first,
                           batch.first_image + first};
    std::function<void(size_t, size_t)> ready;
    if (last) {
      ready = [this](size_t begin, size_t end) {
        accumulator_->add_to(begin, end);
        all_reduce_->ready(begin, end);
      };
    }
    const StepResult result = network_->train_step(images, loss_scale, ready);
    if (!last) accumulator_->keep();
    sum.loss_sum += result.loss_sum;
    sum.top1 += result.top1;
    sum.top5 += result.top5;
  }
  return sum;
}

uint64_t TrainingStep::first_image(const BatchView& batch, int64_t number) const {
  const auto world = static_cast<uint64_t>(communicator_.world());
  const auto rank = static_cast<uint64_t>(communicator_.rank());
  return (static_cast<uint64_t>(number - 1) * world + rank) * static_cast<uint64_t>(batch.count);
}

StepOutcome TrainingStep::run(const BatchView& batch, int64_t number, double lr, const Wishes& wishes) {
  const double global_batch = static_cast<double>(batch.count) * communicator_.world();
  BatchView numbered = batch;
  numbered.first_image = first_image(batch, number);
  const StepResult mine = compute(numbered, static_cast<float>(1.0 / global_batch));
  std::array<double, 4> sums = {mine.loss_sum, static_cast<double>(mine.top1), wishes.stop ? 1.0 : 0.0,
                                wishes.finish ? 1.0 : 0.0};
  communicator_.start_sum(std::span<double>(sums));
  StepOutcome outcome;
  outcome.comm_ms = all_reduce_->finish();
  outcome.loss = sums[0] / global_batch;
  outcome.top1 = sums[1] / global_batch;
  outcome.wishes = {.stop = sums[2] > 0, .finish = sums[3] > 0};
  const std::string where = "of step " + std::to_string(number) + " is not a finite number";
  if (!std::isfinite(outcome.loss)) throw Diverged("the loss " + where + first_not_finite(*network_));
  if (clip_norm_ > 0) {
    outcome.gradient_norm = clip_to_length(network_->gradients(), clip_norm_);
    if (!std::isfinite(outcome.gradient_norm)) {
      throw Diverged("the gradient " + where + first_gradient_not_finite(*network_));
    }
  }
  optimizer_->step(network_->weights(), network_->gradients(), static_cast<float>(lr), number);
  network_->weights_changed();
  return outcome;
}

}  // namespace trainyard
