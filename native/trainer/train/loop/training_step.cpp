#include "trainer/train/loop/training_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/stopwatch.h"
#include "trainer/base/note.h"

namespace trainyard {

namespace {

/// fp16's smallest number: a loss that has to be smaller tells it nothing.
constexpr float kLeastScale = 0x1p-24F;

}  // namespace

class TrainingStep::Reducer final : public StatisticsReducer {
 public:
  explicit Reducer(Communicator& communicator) : communicator_(communicator) {}
  void sum(double* values, size_t count) override {
    const Noted noted(RankWork::sums_statistics);
    const Stopwatch clock;
    communicator_.sum(std::span<double>(values, count));
    waited_ms_ += clock.milliseconds();
  }
  int world() const override { return communicator_.world(); }
  double take_waited_ms() { return std::exchange(waited_ms_, 0.0); }

 private:
  Communicator& communicator_;
  double waited_ms_ = 0;
};

TrainingStep::TrainingStep(Communicator& workers, const NetworkOptions& network, const StepOptions& options,
                           const StrategyMaker& strategy)
    : workers_(workers), accumulate_(options.accumulate), clip_norm_(options.clip_norm) {
  NetworkOptions wanted = network;
  wanted.host_ranks = workers.local_world();
  // Also of a restart with fewer ranks, which takes micro-batches of this size.
  wanted.micro_batches = options.accumulate > 1 || workers.world() > 1;
  wanted.device_sums = options.device_sums && workers.world() > 1;
  wanted.narrow_sums = wanted.device_sums && workers.sum_type() == SumType::bf16;
  if (options.sync_batch_norm && workers.world() > 1) {
    reducer_ = std::make_unique<Reducer>(workers);
    wanted.sync_batch_norm = reducer_.get();
  }
  network_ = make_network(wanted);
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& parameter : network_->parameters()) {
    ranges.push_back({.offset = parameter.offset, .size = parameter.size, .adapt = parameter.decay});
  }
  Variables variables{network_->weights(), network_->gradients(), std::move(ranges)};
  variables.device_sums = options.device_sums;
  variables.bucket_bytes = options.bucket_bytes;
  variables.on_device = [this](const OptimizerOptions& optimizer, const std::vector<ParameterRange>& tensors,
                               const std::vector<std::string>& suffixes) {
    return device_ = network_->train_on_device(optimizer, tensors, suffixes);
  };
  strategy_ = strategy(workers, variables, options.optimizer);
  accumulator_ = std::make_unique<Accumulator>(network_->gradients(), device_);
  if (!options.loss_scaling) return;
  if (!strategy_->gradients_are_everyones()) {
    throw Error(Exit::usage, "fp16 needs a strategy that gives every rank the gradients. Use --strategy auto");
  }
  loss_scaler_.emplace(*options.loss_scaling);
}

TrainingStep::~TrainingStep() = default;

void TrainingStep::distribute() {
  const Noted noted(workers_.rank() == 0 ? RankWork::starts : RankWork::waits_for_first);
  if (!network_->running_statistics().empty()) workers_.broadcast(network_->running_statistics(), 0);
  strategy_->distribute();
  network_->weights_changed();
  if (!loss_scaler_) return;
  const LossScalerState mine = loss_scaler_->state();
  const std::array<double, 3> numbers{mine.scale, static_cast<double>(mine.good), static_cast<double>(mine.skipped)};
  const std::vector<double> all = workers_.gather(numbers);
  loss_scaler_->restore({static_cast<float>(all.at(0)), std::llround(all.at(1)), std::llround(all.at(2))});
}

void TrainingStep::restore_loss_scaler(const LossScalerState& state) {
  if (loss_scaler_) loss_scaler_->restore(state);
}

void TrainingStep::collect() {
  const Noted noted(RankWork::collects);
  strategy_->collect();
  if (device_ == nullptr) network_->weights_changed();
}

BatchView TrainingStep::micro_batch(const BatchView& batch, int part) const {
  const int micro = batch.count / accumulate_;
  const size_t image_bytes = static_cast<size_t>(batch.image_size) * static_cast<size_t>(batch.image_size) * 3;
  const auto first = static_cast<size_t>(part) * static_cast<size_t>(micro);
  BatchView view = batch;
  view.count = micro;
  view.images += first * image_bytes;
  view.labels += first;
  view.first_image += first;
  if (view.other_labels != nullptr) view.other_labels += first;
  return view;
}

StepResult TrainingStep::compute(const BatchView& batch, float loss_scale, const Ahead& ahead) {
  StepResult sum;
  accumulator_->clear();
  for (int part = 0; part < accumulate_; ++part) {
    const bool last = part + 1 == accumulate_;
    note(last ? RankWork::forward : RankWork::computes);
    std::function<void(size_t, size_t)> ready;
    if (last) {
      ready = [this](size_t begin, size_t end) {
        note(RankWork::backward);
        accumulator_->add_to(begin, end);
        strategy_->ready(begin);
      };
    }
    const auto meanwhile = [&] {
      if (!last) return network_->prefetch(micro_batch(batch, part + 1));
      const auto next = ahead ? ahead() : std::nullopt;
      if (next) network_->prefetch(micro_batch(*next, 0));
    };
    const StepResult result = network_->train_step(micro_batch(batch, part), loss_scale, ready, meanwhile);
    if (!last) accumulator_->keep();
    sum.loss_sum += result.loss_sum;
    sum.top1 += result.top1;
    sum.top5 += result.top5;
  }
  return sum;
}

bool TrainingStep::unscale(int64_t number) {
  // The sums over the ranks are the same bits on each, so all leave out the same steps.
  const bool good =
      device_ != nullptr ? device_->unscale(loss_scaler_->scale()) : loss_scaler_->unscale(network_->gradients());
  loss_scaler_->update(good);
  if (!good && loss_scaler_->scale() < kLeastScale) {
    throw Diverged("the gradient of step " + std::to_string(number) +
                   " is not a finite number at any scale of the loss" + first_gradient_not_finite(*network_, device_));
  }
  return good;
}

uint64_t TrainingStep::first_image(const BatchView& batch, int64_t number) const {
  const auto world = static_cast<uint64_t>(workers_.world());
  const auto rank = static_cast<uint64_t>(workers_.rank());
  return (static_cast<uint64_t>(number - 1) * world + rank) * static_cast<uint64_t>(batch.count);
}

double TrainingStep::take_waited_ms() {
  return strategy_->take_waited_ms() + (reducer_ ? reducer_->take_waited_ms() : 0.0);
}

void TrainingStep::keep_statistics() {
  if (device_ != nullptr) return device_->keep_statistics();
  const std::span<const float> now = network_->running_statistics();
  statistics_.assign(now.begin(), now.end());
}

bool TrainingStep::take_back() {
  if (stage_ == Stage::changing || !can_take_back()) return false;
  if (std::exchange(stage_, Stage::none) == Stage::none) return true;
  if (device_ != nullptr) {
    device_->take_statistics_back();
  } else {
    std::ranges::copy(statistics_, network_->running_statistics().begin());
  }
  return true;
}

StepOutcome TrainingStep::run(const BatchView& batch, int64_t number, double lr, const Wishes& wishes,
                              const Ahead& ahead) {
  const double images = static_cast<double>(batch.count) * strategy_->workers_an_update();
  const double scale = loss_scaler_ ? double{loss_scaler_->scale()} : 1.0;
  BatchView numbered = batch;
  numbered.first_image = first_image(batch, number);
  if (can_take_back()) keep_statistics();
  stage_ = Stage::computing;
  note(RankWork::computes, number);
  const StepResult mine = compute(numbered, static_cast<float>(scale / images), ahead);
  StepSums sums{.images = static_cast<double>(batch.count),
                .loss = mine.loss_sum,
                .top1 = static_cast<double>(mine.top1),
                .stop = wishes.stop ? 1.0 : 0.0,
                .finish = wishes.finish ? 1.0 : 0.0};
  note(RankWork::sums);
  strategy_->sum(sums);
  StepOutcome outcome;
  outcome.loss = sums.loss / images;
  outcome.top1 = sums.top1 / images;
  const std::string where = "of step " + std::to_string(number) + " is not a finite number";
  if (!std::isfinite(outcome.loss)) throw Diverged("the loss " + where + first_not_finite());
  stage_ = Stage::changing;
  note(RankWork::updates);
  outcome.skipped = loss_scaler_ && !unscale(number);
  if (outcome.skipped) {
    stage_ = Stage::none;
    note(RankWork::has_ended_step);
    outcome.wishes = {.stop = sums.stop > 0, .finish = sums.finish > 0};
    outcome.comm_ms = take_waited_ms();
    return outcome;
  }
  // A step that was left out is none to the optimizer.
  const int64_t applied = number - (loss_scaler_ ? loss_scaler_->skipped() : 0);
  outcome.gradient_norm =
      strategy_->apply({.number = applied, .lr = static_cast<float>(lr), .clip_norm = clip_norm_}, sums);
  if (!std::isfinite(outcome.gradient_norm)) {
    throw Diverged("the gradient " + where + first_gradient_not_finite(*network_, device_));
  }
  if (device_ == nullptr) network_->weights_changed();
  stage_ = Stage::none;
  note(RankWork::has_ended_step);
  outcome.wishes = {.stop = sums.stop > 0, .finish = sums.finish > 0};
  outcome.comm_ms = take_waited_ms();
  return outcome;
}

}  // namespace trainyard
