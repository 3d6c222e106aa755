// Which kernels of two batch norms that are added there are, on the device and in the tests alike;
// included where blocks() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/norm/norm_pair_blocks.h"

namespace trainyard::cuda {

#define TRAINYARD_NORM_PAIR(T)                           \
  TRAINYARD_BLOCKS(NormPairApplyBlock<T, false>);        \
  TRAINYARD_BLOCKS(NormPairApplyBlock<T, true>);         \
  TRAINYARD_BLOCKS(NormPairGradientSumsBlock<T, false>); \
  TRAINYARD_BLOCKS(NormPairGradientSumsBlock<T, true>);  \
  TRAINYARD_BLOCKS(NormPairGradientBlock<T>)

TRAINYARD_NORM_PAIR(float);
TRAINYARD_NORM_PAIR(BFloat16);
TRAINYARD_NORM_PAIR(Float16);

#undef TRAINYARD_NORM_PAIR

}  // namespace trainyard::cuda
