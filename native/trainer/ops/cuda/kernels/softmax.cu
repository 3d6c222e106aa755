#include "trainer/ops/cuda/kernels/each.cuh"
#include "trainer/ops/cuda/math/softmax.h"

namespace trainyard::cuda {

TRAINYARD_EACH(SoftmaxLargest);
TRAINYARD_EACH(SoftmaxSums);
TRAINYARD_EACH(SoftmaxLoss);
TRAINYARD_EACH(SoftmaxGradient);

}  // namespace trainyard::cuda
