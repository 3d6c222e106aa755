// LARS of one weight, and the rate of its tensor.
#pragma once
#include "common/host_device.h"

namespace trainyard {

/// What LARS multiplies a tensor's learning rate by: trust * |w| / (|g| + weight_decay * |w|), with
/// Euclidean lengths of the whole tensor (You et al. 2017, arXiv:1708.03888, eq. 6). 1 where that
/// says nothing: weights or gradients of length 0.
TRAINYARD_HOST_DEVICE inline double lars_ratio(double weights, double gradients, double trust, double weight_decay) {
  if (!(weights > 0) || !(gradients > 0)) return 1;
  return trust * weights / (gradients + weight_decay * weights);
}

/// v = momentum * v + rate * (g + weight_decay * w);  w = w - v   (algorithm 1 there). rate: the
/// step's learning rate times lars_ratio.
TRAINYARD_HOST_DEVICE inline void lars_update(float& w, float& v, float g, float rate, float momentum,
                                              float weight_decay) {
  v = momentum * v + rate * (g + weight_decay * w);
  w -= v;
}

}  // namespace trainyard
