// SGD of one weight.
#pragma once
#include "common/host_device.h"

namespace trainyard {

/// v = momentum * v + (g + weight_decay * w);  w = w - lr * v   (PyTorch's SGD, dampening 0, no
/// Nesterov).
TRAINYARD_HOST_DEVICE inline void sgd_update(float& w, float& v, float g, float lr, float momentum,
                                             float weight_decay) {
  v = momentum * v + (g + weight_decay * w);
  w -= lr * v;
}

}  // namespace trainyard
