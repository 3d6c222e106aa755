// The learning rate of each step.
#pragma once
#include <cstdint>
#include <vector>

namespace trainyard {

enum class Decay {
  cosine,  ///< half a cosine down to 0 (Loshchilov and Hutter 2017, eq. 5, one period)
  poly,    ///< (1 - t/T)^2, as You et al. 2017, arXiv:1708.03888, section 5 use with LARS
  step     ///< a tenth from each of `drops` on (He et al. 2015, section 3.4)
};

/// Linear warm-up from `start_lr` to `peak_lr` over warmup_steps (Goyal et al. 2017, sec. 2.2: from
/// the rate of one replica to that of all), then the decay. That of cosine and poly begins after
/// the warm-up and reaches 0 at total_steps; drops count from the run's first step.
struct Schedule {
  Decay decay = Decay::cosine;
  double start_lr = 0.1;
  double peak_lr = 0.1;
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;
  std::vector<int64_t> drops;  ///< steps, rising

  /// The rate of step `step`, counted from 0.
  double at(int64_t step) const;
};

/// Where a run of `total_steps` drops its rate by default: at 30, 60 and 80 parts of 90 (Goyal et
/// al. 2017, sec. 5.1: epochs 30, 60 and 80 of 90).
std::vector<int64_t> default_drops(int64_t total_steps);

}  // namespace trainyard
