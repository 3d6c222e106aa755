#include "trainer/ops/cuda/kernels/each.cuh"
#include "trainer/ops/cuda/math/dropout.h"
#include "trainer/ops/cuda/math/elementwise.h"

namespace trainyard::cuda {

template void each(const Launcher&, size_t, const InputNormalise&);
template void each(const Launcher&, size_t, const AddTo&);
template void each(const Launcher&, size_t, const CopyChannels&);
template void each(const Launcher&, size_t, const Dropout&);
template void each(const Launcher&, size_t, const AddBias&);
template void each(const Launcher&, size_t, const MaskByOutput&);
template void each(const Launcher&, size_t, const ColumnSums&);
template void each(const Launcher&, size_t, const ToChannelsLast&);
template void each(const Launcher&, size_t, const ToChannelsFirst&);

}  // namespace trainyard::cuda
