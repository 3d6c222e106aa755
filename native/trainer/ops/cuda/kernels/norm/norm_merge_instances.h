// Which kernels there are, on the device and in the tests alike; included where each() and blocks()
// are defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/norm/norm_merge.h"

namespace trainyard::cuda {

TRAINYARD_EACH(PixelsTotal);

#define TRAINYARD_NORM_MERGE(T)                          \
  TRAINYARD_BLOCKS(MergeNormBlock<T>);                   \
  TRAINYARD_BLOCKS(NormPartialsBlock<MergedNormEnd<T>>); \
  TRAINYARD_BLOCKS(NormPartialsBlock<MergedPairEnd<T>>)

TRAINYARD_NORM_MERGE(BFloat16);
TRAINYARD_NORM_MERGE(Float16);

#undef TRAINYARD_NORM_MERGE

}  // namespace trainyard::cuda
