#include "trainer/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard {

double Schedule::at(int64_t step) const {
  if (step < warmup_steps) {
    const double part = static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
    return start_lr + (peak_lr - start_lr) * part;
  }
  if (decay == Decay::step) {
    const auto passed = std::count_if(drops.begin(), drops.end(), [step](int64_t drop) { return step >= drop; });
    return peak_lr * std::pow(0.1, static_cast<double>(passed));
  }
  const auto length = static_cast<double>(std::max<int64_t>(total_steps - warmup_steps, 1));
  const double part = std::min(static_cast<double>(step - warmup_steps) / length, 1.0);
  if (decay == Decay::poly) return peak_lr * (1.0 - part) * (1.0 - part);
  return 0.5 * peak_lr * (1.0 + std::cos(std::numbers::pi * part));
}

std::vector<int64_t> default_drops(int64_t total_steps) {
  std::vector<int64_t> drops;
  for (const double part : {30.0 / 90, 60.0 / 90, 80.0 / 90}) {
    drops.push_back(std::llround(part * static_cast<double>(total_steps)));
  }
  return drops;
}

}  // namespace trainyard
