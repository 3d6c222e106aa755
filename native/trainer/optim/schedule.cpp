#include "trainer/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard {

double CosineSchedule::at(int64_t step) const {
  if (step < warmup_steps) {
    const double part = static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
    return start_lr + (peak_lr - start_lr) * part;
  }
  const auto length = static_cast<double>(std::max<int64_t>(total_steps - warmup_steps, 1));
  const double part = std::min(static_cast<double>(step - warmup_steps) / length, 1.0);
  return 0.5 * peak_lr * (1.0 + std::cos(std::numbers::pi * part));
}

}  // namespace trainyard
