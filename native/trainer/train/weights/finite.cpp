#include "trainer/train/weights/finite.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "trainer/optim/norm.h"

namespace trainyard {
namespace {

/// A sum of squares tells it. No square of a finite fp32 number is above 2^256, and an arena has
/// far fewer than 2^64 of them, so the sum stays below 2^320 and a double holds it. Squares are
/// never negative, so nothing cancels what is infinite or not a number.
bool all_finite(std::span<const float> values) { return std::isfinite(squared_length(values)); }

std::string first_of(const std::vector<TensorInfo>& infos, std::span<const float> arena) {
  for (const TensorInfo& info : infos) {
    if (!all_finite(arena.subspan(info.offset, info.size))) return info.name;
  }
  return "";
}

}  // namespace

bool is_finite(Network& network, DeviceOptimizer* device) {
  if (device != nullptr) return device->is_finite();
  return all_finite(network.weights()) && all_finite(network.running_statistics());
}

std::string first_not_finite(Network& network, DeviceOptimizer* device) {
  if (device != nullptr) device->fetch();
  const std::string weight = first_of(network.parameters(), network.weights());
  if (!weight.empty()) return " (" + weight + " is not finite)";
  const std::string statistic = first_of(network.statistics(), network.running_statistics());
  if (statistic.empty()) return "";
  return " (all weights are, but not what reaches " + statistic.substr(0, statistic.rfind('.')) + ")";
}

std::string first_gradient_not_finite(Network& network, DeviceOptimizer* device) {
  if (device != nullptr) device->fetch_gradients();
  const auto& infos = network.parameters();
  const auto found = std::find_if(infos.rbegin(), infos.rend(), [&](const TensorInfo& info) {
    return !all_finite(network.gradients().subspan(info.offset, info.size));
  });
  return found == infos.rend() ? "" : " (that of " + found->name + " is not)";
}

}  // namespace trainyard
