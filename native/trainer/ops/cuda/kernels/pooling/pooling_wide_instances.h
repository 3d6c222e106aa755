// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/pooling_wide.h"

namespace trainyard::cuda {

#define TRAINYARD_POOLING_WIDE(T)                                                   \
  template void each(const Launcher&, size_t, const MaxPoolWide<T, 3>&);            \
  template void each(const Launcher&, size_t, const MaxPoolWide<T, 0>&);            \
  template void each(const Launcher&, size_t, const MaxPoolGradientWide<T, 3, 2>&); \
  template void each(const Launcher&, size_t, const MaxPoolGradientWide<T, 0, 0>&)

TRAINYARD_POOLING_WIDE(float);
TRAINYARD_POOLING_WIDE(BFloat16);
TRAINYARD_POOLING_WIDE(Float16);
TRAINYARD_EACH_STORED(GlobalAverageWide);
TRAINYARD_EACH_STORED(GlobalAverageGradientWide);

#undef TRAINYARD_POOLING_WIDE

}  // namespace trainyard::cuda
