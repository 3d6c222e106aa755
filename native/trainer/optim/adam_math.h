// Adam and AdamW of one weight.
#pragma once
#include <cmath>
#include <cstdint>

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

/// Of update `number`, from 1; worked out in double on the host.
inline AdamStep adam_step(float lr, int64_t number, double beta1, double beta2, double epsilon) {
  const auto t = static_cast<double>(number);
  AdamStep step;
  step.rate = static_cast<float>(double{lr} / (1 - std::pow(beta1, t)));
  step.root_correction = static_cast<float>(std::sqrt(1 - std::pow(beta2, t)));
  step.beta1 = static_cast<float>(beta1);
  step.beta2 = static_cast<float>(beta2);
  step.rest1 = static_cast<float>(1 - beta1);
  step.rest2 = static_cast<float>(1 - beta2);
  step.epsilon = static_cast<float>(epsilon);
  return step;
}

/// Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1, as PyTorch defines it (weight decay goes into
/// the gradient):
///   g = g + weight_decay * w;  m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
///   w = w - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
TRAINYARD_HOST_DEVICE inline void adam_update(float& w, float& m, float& v, float g, float weight_decay,
                                              const AdamStep& step) {
  const float slope = g + weight_decay * w;
  m = step.beta1 * m + step.rest1 * slope;
  v = step.beta2 * v + step.rest2 * slope * slope;
  w -= step.rate * (m / (sqrtf(v) / step.root_correction + step.epsilon));
}

/// Loshchilov and Hutter 2019 (arXiv:1711.05101), algorithm 2, as PyTorch defines it: weight decay
/// shrinks the weight beside Adam's step, and the moments do not see it.
///   w = w - lr * weight_decay * w;  then adam_update() without weight decay
TRAINYARD_HOST_DEVICE inline void adamw_update(float& w, float& m, float& v, float g, float weight_decay, float lr,
                                               const AdamStep& step) {
  w -= lr * weight_decay * w;
  adam_update(w, m, v, g, 0.0F, step);
}

}  // namespace trainyard
