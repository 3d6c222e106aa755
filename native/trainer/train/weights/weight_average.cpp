#include "trainer/train/weights/weight_average.h"

#include <span>

#include "trainer/base/parallel.h"
#include "trainer/train/weights/snapshot.h"

namespace trainyard {
namespace {

constexpr size_t least_part = 16384;  // elements worth a thread

void move_towards(std::span<float> average, std::span<const float> values, float rest) {
  parallel_for(values.size(), least_part, [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) average[i] += rest * (values[i] - average[i]);
  });
}

}  // namespace

WeightAverage::WeightAverage(Network& network, DeviceOptimizer* device, double decay)
    : network_(network), device_(device), decay_(decay) {}

void WeightAverage::add(bool anew) {
  const bool copied = anew || !begun_;
  begun_ = true;
  if (device_ != nullptr) return device_->average(copied ? 0 : decay_);
  const std::span<float> weights = network_.weights();
  const std::span<float> statistics = network_.running_statistics();
  if (copied) {
    weights_.assign(weights.begin(), weights.end());
    statistics_.assign(statistics.begin(), statistics.end());
    return;
  }
  const auto rest = static_cast<float>(1 - decay_);
  move_towards(weights_, weights, rest);
  move_towards(statistics_, statistics, rest);
}

Averages WeightAverage::host() {
  if (device_ != nullptr) return device_->averages();
  weights_.resize(network_.weights().size());
  statistics_.resize(network_.running_statistics().size());
  return {weights_, statistics_};
}

Averages WeightAverage::fetch() {
  if (device_ != nullptr) device_->fetch_averages();
  return host();
}

void WeightAverage::load(const LoadedTensors& model) {
  const Averages averages = host();
  fill_tensors(model, network_.parameters(), averages.weights);
  fill_tensors(model, network_.statistics(), averages.statistics);
  if (device_ != nullptr) device_->averages_changed();
  begun_ = true;
}

}  // namespace trainyard
