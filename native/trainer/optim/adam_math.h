// Adam of one weight.
#pragma once
#include <cmath>

#include "common/host_device.h"

namespace trainyard {

/// What is the same for every weight of a step.
struct AdamStep {
  float rate = 0;             ///< lr / (1 - beta1^t)
  float root_correction = 1;  ///< sqrt(1 - beta2^t)
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float rest1 = 0.1F;    ///< 1 - beta1, rounded once
  float rest2 = 0.001F;  ///< 1 - beta2, rounded once
  float epsilon = 1e-8F;
};

/// Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1, as PyTorch defines it (weight decay goes into the gradient):
///   g = g + weight_decay * w;  m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
///   w = w - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
TRAINYARD_HOST_DEVICE inline void adam_update(float& w, float& m, float& v, float g, float weight_decay,
                                              const AdamStep& step) {
  const float slope = g + weight_decay * w;
  m = step.beta1 * m + step.rest1 * slope;
  v = step.beta2 * v + step.rest2 * slope * slope;
  w -= step.rate * (m / (sqrtf(v) / step.root_correction + step.epsilon));
}

}  // namespace trainyard
