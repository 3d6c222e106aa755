#include "trainer/ops/cuda/kernels/each.cuh"
#include "trainer/ops/cuda/math/softmax.h"

namespace trainyard::cuda {

template void each(const Launcher&, size_t, const SoftmaxLargest&);
template void each(const Launcher&, size_t, const SoftmaxSums&);
template void each(const Launcher&, size_t, const SoftmaxLoss&);
template void each(const Launcher&, size_t, const SoftmaxGradient&);

}  // namespace trainyard::cuda
