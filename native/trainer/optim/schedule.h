// The learning rate of each step.
#pragma once
#include <cstdint>

namespace trainyard {

/// Linear warm-up from `start_lr` to `peak_lr` over warmup_steps (Goyal et al. 2017, sec. 2.2: from the rate of one
/// replica to that of all), then half a cosine down to 0 at total_steps (Loshchilov and Hutter 2017, eq. 5, one
/// period).
struct CosineSchedule {
  double start_lr = 0.1;
  double peak_lr = 0.1;
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;

  /// The rate of step `step`, counted from 0.
  double at(int64_t step) const;
};

}  // namespace trainyard
