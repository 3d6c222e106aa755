// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/softmax.h"

namespace trainyard::cuda {

TRAINYARD_EACH(SoftmaxLargest);
TRAINYARD_EACH(SoftmaxSums);
TRAINYARD_EACH(SoftmaxLoss);
TRAINYARD_EACH(SoftmaxGradient);
TRAINYARD_EACH(SoftmaxMixedLoss);
TRAINYARD_EACH(SoftmaxMixedGradient);

}  // namespace trainyard::cuda
