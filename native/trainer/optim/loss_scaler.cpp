#include "trainer/optim/loss_scaler.h"

#include <atomic>
#include <cmath>

#include "common/error.h"
#include "trainer/base/parallel.h"

namespace trainyard {

LossScaler::LossScaler(const LossScalerOptions& options) : options_(options), scale_(options.scale) {
  const bool sound = std::isfinite(options.scale) && options.scale > 0 && options.growth > 1 && options.backoff > 0 &&
                     options.backoff < 1 && options.growth_interval > 0;
  if (!sound) throw Error(Exit::internal, "A loss scaler was given numbers that make no sense. Report it.");
}

bool LossScaler::unscale(std::span<float> gradients) const {
  std::atomic<bool> finite = true;
  parallel_for(gradients.size(), 16384, [&](size_t begin, size_t end) {
    // By the inverse, as GradScaler does; it is worked out in double, as there.
    const auto inverse = static_cast<float>(1.0 / double{scale_});
    // Zero for as long as every number is finite, and not a number afterwards.
    float sum = 0;
    for (size_t i = begin; i < end; ++i) {
      sum += gradients[i] * 0.0F;
      gradients[i] *= inverse;
      sum += gradients[i] * 0.0F;
    }
    if (sum != 0.0F) finite = false;
  });
  return finite;
}

void LossScaler::restore(const LossScalerState& state) {
  const bool sound = std::isfinite(state.scale) && state.scale > 0 && state.good >= 0 && state.skipped >= 0;
  if (!sound) throw Error(Exit::data, "the loss scale of a checkpoint makes no sense. Resume from another one");
  scale_ = state.scale;
  good_ = state.good;
  skipped_ = state.skipped;
}

void LossScaler::update(bool good) {
  if (!good) {
    scale_ *= options_.backoff;
    good_ = 0;
    ++skipped_;
    return;
  }
  if (++good_ < options_.growth_interval) return;
  good_ = 0;
  if (std::isfinite(scale_ * options_.growth)) scale_ *= options_.growth;
}

}  // namespace trainyard
