#include "trainer/ops/cuda/kernels/each.cuh"
#include "trainer/ops/cuda/math/norm_backward.h"
#include "trainer/ops/cuda/math/norm_forward.h"

namespace trainyard::cuda {

template void each(const Launcher&, size_t, const NormSums&);
template void each(const Launcher&, size_t, const FoldRows&);
template void each(const Launcher&, size_t, const SetNumber&);
template void each(const Launcher&, size_t, const NormStatistics&);
template void each(const Launcher&, size_t, const NormRunning&);
template void each(const Launcher&, size_t, const NormApply&);
template void each(const Launcher&, size_t, const NormGradientSums&);
template void each(const Launcher&, size_t, const NormParameterGradients&);
template void each(const Launcher&, size_t, const NormGradientConstants&);
template void each(const Launcher&, size_t, const NormGradient&);

}  // namespace trainyard::cuda
