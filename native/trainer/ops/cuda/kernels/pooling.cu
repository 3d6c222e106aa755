#include "trainer/ops/cuda/kernels/each.cuh"
#include "trainer/ops/cuda/math/pooling.h"

namespace trainyard::cuda {

template void each(const Launcher&, size_t, const MaxPool&);
template void each(const Launcher&, size_t, const MaxPoolGradient&);
template void each(const Launcher&, size_t, const AvgPool&);
template void each(const Launcher&, size_t, const AvgPoolGradient&);
template void each(const Launcher&, size_t, const GlobalAverage&);
template void each(const Launcher&, size_t, const GlobalAverageGradient&);
template void each(const Launcher&, size_t, const Shortcut&);
template void each(const Launcher&, size_t, const ShortcutGradient&);

}  // namespace trainyard::cuda
