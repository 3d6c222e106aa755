// Kernels as loops, for every arithmetic that the device's compiler is given.
#include <cstdlib>

#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/launch.h"
#include "trainer/ops/cuda/math/dropout.h"
#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/math/norm_backward.h"
#include "trainer/ops/cuda/math/norm_forward.h"
#include "trainer/ops/cuda/math/pooling.h"
#include "trainer/ops/cuda/math/softmax.h"

namespace trainyard::cuda {

/// From the last index to the first: no kernel may count on an order.
template <class F>
void each(const Launcher& launcher, size_t count, const F& f) {
  if (count > kMostElements) report_too_large(launcher, count);
  for (size_t i = count; i-- > 0;) f(static_cast<unsigned>(i));
}

template void each(const Launcher&, size_t, const InputNormalise&);
template void each(const Launcher&, size_t, const AddTo&);
template void each(const Launcher&, size_t, const CopyChannels&);
template void each(const Launcher&, size_t, const Dropout&);
template void each(const Launcher&, size_t, const AddBias&);
template void each(const Launcher&, size_t, const MaskByOutput&);
template void each(const Launcher&, size_t, const ColumnSums&);
template void each(const Launcher&, size_t, const ToChannelsLast&);
template void each(const Launcher&, size_t, const ToChannelsFirst&);
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
template void each(const Launcher&, size_t, const MaxPool&);
template void each(const Launcher&, size_t, const MaxPoolGradient&);
template void each(const Launcher&, size_t, const AvgPool&);
template void each(const Launcher&, size_t, const AvgPoolGradient&);
template void each(const Launcher&, size_t, const GlobalAverage&);
template void each(const Launcher&, size_t, const GlobalAverageGradient&);
template void each(const Launcher&, size_t, const Shortcut&);
template void each(const Launcher&, size_t, const ShortcutGradient&);
template void each(const Launcher&, size_t, const SoftmaxLargest&);
template void each(const Launcher&, size_t, const SoftmaxSums&);
template void each(const Launcher&, size_t, const SoftmaxLoss&);
template void each(const Launcher&, size_t, const SoftmaxGradient&);

}  // namespace trainyard::cuda
