#include "trainer/models/network_optimizer.h"

#include <cmath>
#include <utility>

namespace trainyard {

NetworkOptimizer::NetworkOptimizer(std::unique_ptr<UpdateOp> update, Backend& backend, Arena& weights, Arena& gradients,
                                   const std::vector<std::string>& suffixes, std::function<void()> changed,
                                   std::function<void()> fetched)
    : update_(std::move(update)),
      weights_(weights),
      gradients_(gradients),
      changed_(std::move(changed)),
      fetched_(std::move(fetched)) {
  for (const std::string& suffix : suffixes) {
    state_.push_back({suffix, std::make_unique<Arena>(backend, weights.host().size())});
  }
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
  fetched_();
}

bool NetworkOptimizer::unscale(float scale) {
  // By the inverse, as LossScaler does. What is infinite stays so, and so does what is not a number.
  update_->scale(gradients_.device(), static_cast<float>(1.0 / double{scale}));
  return std::isfinite(update_->squared_length(gradients_.device()));
}

double NetworkOptimizer::clip(double limit) {
  const double length = std::sqrt(update_->squared_length(gradients_.device()));
  const double factor = limit / (length + 1e-6);
  if (std::isfinite(length) && factor < 1) update_->scale(gradients_.device(), static_cast<float>(factor));
  return length;
}

void NetworkOptimizer::step(float lr, int64_t number) {
  update_->run(weights_.device(), gradients_.device(), remembered(0), remembered(1), lr, number);
  changed_();
}

size_t NetworkOptimizer::bytes() const {
  size_t total = 0;
  for (const Remembered& part : state_) total += part.values->bytes();
  return total;
}

}  // namespace trainyard
