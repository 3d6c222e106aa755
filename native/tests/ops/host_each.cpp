// Kernels as loops, for every arithmetic that the device's compiler is given.
#include <cstdlib>

#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/launch.h"
#include "trainer/ops/cuda/math/dropout.h"
#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/math/norm_backward.h"
#include "trainer/ops/cuda/math/norm_forward.h"
#include "trainer/ops/cuda/math/pooling.h"
#include "trainer/ops/cuda/math/softmax.h"
#include "trainer/ops/cuda/math/update.h"

namespace trainyard::cuda {

/// From the last index to the first: no kernel may count on an order.
template <class F>
void each(const Launcher& launcher, size_t count, const F& f) {
  if (count > kMostElements) report_too_large(launcher, count);
  for (size_t i = count; i-- > 0;) f(static_cast<unsigned>(i));
}

TRAINYARD_EACH_STORED(InputNormalise);
TRAINYARD_EACH_STORED(AddTo);
TRAINYARD_EACH_STORED(Round);
TRAINYARD_EACH_STORED(CopyChannels);
TRAINYARD_EACH_STORED(Dropout);
TRAINYARD_EACH_STORED(AddBias);
TRAINYARD_EACH_STORED(MaskByOutput);
TRAINYARD_EACH_STORED(ColumnSums);
TRAINYARD_EACH_STORED(ToChannelsLast);
TRAINYARD_EACH_STORED(ToChannelsFirst);
TRAINYARD_EACH_STORED(NormSums);
TRAINYARD_EACH(FoldRows);
TRAINYARD_EACH(SetNumber);
TRAINYARD_EACH(NormStatistics);
TRAINYARD_EACH(NormRunning);
TRAINYARD_EACH_STORED(NormApply);
TRAINYARD_EACH_STORED(NormGradientSums);
TRAINYARD_EACH(NormParameterGradients);
TRAINYARD_EACH(NormGradientConstants);
TRAINYARD_EACH_STORED(NormGradient);
TRAINYARD_EACH_STORED(MaxPool);
TRAINYARD_EACH_STORED(MaxPoolGradient);
TRAINYARD_EACH_STORED(AvgPool);
TRAINYARD_EACH_STORED(AvgPoolGradient);
TRAINYARD_EACH_STORED(GlobalAverage);
TRAINYARD_EACH_STORED(GlobalAverageGradient);
TRAINYARD_EACH_STORED(Shortcut);
TRAINYARD_EACH_STORED(ShortcutGradient);
TRAINYARD_EACH(SoftmaxLargest);
TRAINYARD_EACH(SoftmaxSums);
TRAINYARD_EACH(SoftmaxLoss);
TRAINYARD_EACH(SoftmaxGradient);

TRAINYARD_EACH(SgdUpdate);
TRAINYARD_EACH(AdamUpdate);
TRAINYARD_EACH(LarsUpdate);
TRAINYARD_EACH(LarsRates);
TRAINYARD_EACH(BlockSquares);
TRAINYARD_EACH(FoldLanes);
TRAINYARD_EACH(FoldBlocks);
TRAINYARD_EACH(Scale);

}  // namespace trainyard::cuda
