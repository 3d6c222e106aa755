#include "trainer/models/network_optimizer.h"

#include <cmath>
#include <exception>
#include <utility>

#include "common/error.h"

namespace trainyard {

NetworkOptimizer::NetworkOptimizer(TrainedParts parts, Backend& backend, const std::vector<std::string>& suffixes,
                                   std::function<void()> changed)
    : update_(std::move(parts.update)),
      statistic_sums_(std::move(parts.statistic_sums)),
      backend_(backend),
      weights_(parts.weights),
      gradients_(parts.gradients),
      statistics_(parts.statistics),
      changed_(std::move(changed)),
      exceptions_at_start_(std::uncaught_exceptions()) {
  for (const std::string& suffix : suffixes) {
    state_.push_back({suffix, std::make_unique<Arena>(backend, weights_.host().size())});
  }
}

NetworkOptimizer::~NetworkOptimizer() {
  if (collectives_ != nullptr && std::uncaught_exceptions() > exceptions_at_start_) collectives_->abandon();
}

std::vector<OptimizerState> NetworkOptimizer::state() {
  std::vector<OptimizerState> all;
  for (const Remembered& part : state_) all.push_back({part.suffix, part.values->host()});
  return all;
}

void NetworkOptimizer::state_changed() {
  for (const Remembered& part : state_) part.values->to_device();
}

void NetworkOptimizer::fetch() {
  weights_.to_host();
  for (const Remembered& part : state_) part.values->to_host();
  statistics_.to_host();
}

void NetworkOptimizer::keep_gradients(bool first) {
  if (!kept_) kept_ = backend_.allocate(gradients_.bytes());
  update_->add(reinterpret_cast<float*>(kept_->data()), gradients_.device(), gradients_.host().size(), !first);
}

void NetworkOptimizer::add_kept(size_t begin, size_t end) {
  const float* kept = reinterpret_cast<const float*>(kept_->data());
  update_->add(gradients_.device() + begin, kept + begin, end - begin, true);
}

bool NetworkOptimizer::unscale(float scale) {
  // By the inverse, as LossScaler does. What is infinite stays so, and so does what is not a
  // number.
  update_->scale(gradients_.device(), static_cast<float>(1.0 / double{scale}));
  return std::isfinite(update_->squared_length(gradients_.device()));
}

double NetworkOptimizer::clip(double limit) {
  const double length = std::sqrt(update_->squared_length(gradients_.device()));
  const double factor = limit / (length + 1e-6);
  if (std::isfinite(length) && factor < 1) update_->scale(gradients_.device(), static_cast<float>(factor));
  return length;
}

bool NetworkOptimizer::is_finite() {
  if (!std::isfinite(update_->squared_length(weights_.device()))) return false;
  return !statistic_sums_ || std::isfinite(statistic_sums_->squared_length(statistics_.device()));
}

void NetworkOptimizer::step(float lr, int64_t number) {
  update_->run(weights_.device(), gradients_.device(), remembered(0), remembered(1), lr, number);
  changed_();
}

void NetworkOptimizer::keep_statistics() {
  if (!statistic_sums_) return;
  const size_t size = statistics_.host().size();
  if (!kept_statistics_) kept_statistics_ = std::make_unique<Arena>(backend_, size);
  statistic_sums_->add(kept_statistics_->device(), statistics_.device(), size, false);
}

void NetworkOptimizer::take_statistics_back() {
  if (!kept_statistics_) return;
  statistic_sums_->add(statistics_.device(), kept_statistics_->device(), statistics_.host().size(), false);
}

void NetworkOptimizer::need_averages() {
  if (average_weights_) return;
  average_weights_ = std::make_unique<Arena>(backend_, weights_.host().size());
  average_statistics_ = std::make_unique<Arena>(backend_, statistics_.host().size());
}

void NetworkOptimizer::average(double decay) {
  need_averages();
  const auto move = [decay](UpdateOp& op, Arena& average, Arena& values) {
    const bool copied = decay == 0;
    if (!copied) op.scale(average.device(), static_cast<float>(decay / (1 - decay)));
    op.add(average.device(), values.device(), values.host().size(), !copied);
    if (!copied) op.scale(average.device(), static_cast<float>(1 - decay));
  };
  move(*update_, *average_weights_, weights_);
  if (statistic_sums_) move(*statistic_sums_, *average_statistics_, statistics_);
}

Averages NetworkOptimizer::averages() {
  need_averages();
  return {average_weights_->host(), average_statistics_->host()};
}

void NetworkOptimizer::fetch_averages() {
  need_averages();
  average_weights_->to_host();
  average_statistics_->to_host();
}

void NetworkOptimizer::averages_changed() {
  need_averages();
  average_weights_->to_device();
  average_statistics_->to_device();
}

void NetworkOptimizer::join(const DeviceGroup& group) {
  // CUDA loads a kernel when it is first launched, and may wait for all work on the GPU then. What
  // is saved when other ranks are lost is looked at beside a sum that they never join.
  (void)is_finite();
  collectives_ = backend_.join(group);
  if (collectives_ == nullptr) {
    throw Error(Exit::internal, backend_.name() + " has no collectives. Please report this");
  }
  sums_ = collectives_->prepare(gradients_.device(), gradients_.host().size());
}

void NetworkOptimizer::start_sum(size_t begin, size_t end) {
  collectives_->start_sum(gradients_.device() + begin, end - begin);
}

void NetworkOptimizer::share() {
  std::vector<Arena*> arenas{&weights_};
  for (const Remembered& part : state_) arenas.push_back(part.values.get());
  for (Arena* arena : arenas) {
    arena->to_device();
    collectives_->start_broadcast(arena->device(), arena->host().size(), 0);
  }
  collectives_->wait();
  for (Arena* arena : arenas) arena->to_host();
}

size_t NetworkOptimizer::bytes() const {
  size_t total = (kept_ ? kept_->bytes() : 0) + (sums_ ? sums_->bytes() : 0);
  if (kept_statistics_) total += kept_statistics_->bytes();
  if (average_weights_) total += average_weights_->bytes() + average_statistics_->bytes();
  for (const Remembered& part : state_) total += part.values->bytes();
  return total;
}

}  // namespace trainyard
