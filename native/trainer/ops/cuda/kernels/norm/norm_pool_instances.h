// Which kernels of a batch norm that is pooled there are, on the device and in the tests alike;
// included where blocks() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/norm/norm_pool_blocks.h"

namespace trainyard::cuda {

#define TRAINYARD_NORM_POOL(T)               \
  TRAINYARD_BLOCKS(NormPoolBlock<T, false>); \
  TRAINYARD_BLOCKS(NormPoolBlock<T, true>);  \
  TRAINYARD_BLOCKS(NormPoolGradientBlock<T>)

TRAINYARD_NORM_POOL(float);
TRAINYARD_NORM_POOL(BFloat16);
TRAINYARD_NORM_POOL(Float16);

#undef TRAINYARD_NORM_POOL

}  // namespace trainyard::cuda
