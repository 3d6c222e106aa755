// Which of batch norm's block kernels there are, on the device and in the tests alike; included
// where blocks() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/norm/norm_backward_blocks.h"

namespace trainyard::cuda {

#define TRAINYARD_NORM_BLOCKS(T)                                           \
  TRAINYARD_BLOCKS(NormSumsBlock<T>);                                      \
  TRAINYARD_BLOCKS(NormApplyBlock<T, NormEnd::plain>);                     \
  TRAINYARD_BLOCKS(NormApplyBlock<T, NormEnd::relu>);                      \
  TRAINYARD_BLOCKS(NormApplyBlock<T, NormEnd::residual>);                  \
  TRAINYARD_BLOCKS(NormApplyBlock<T, NormEnd::residual_relu>);             \
  TRAINYARD_BLOCKS(NormApplyBlock<T, NormEnd::residual_relu_noted>);       \
  TRAINYARD_BLOCKS(NormGradientSumsBlock<T, false, Passed::all, false>);   \
  TRAINYARD_BLOCKS(NormGradientSumsBlock<T, false, Passed::input, false>); \
  TRAINYARD_BLOCKS(NormGradientSumsBlock<T, false, Passed::noted, true>);  \
  TRAINYARD_BLOCKS(NormGradientSumsBlock<T, true, Passed::all, true>);     \
  TRAINYARD_BLOCKS(NormGradientSumsBlock<T, true, Passed::input, true>);   \
  TRAINYARD_BLOCKS(NormGradientSumsBlock<T, true, Passed::noted, true>);   \
  TRAINYARD_BLOCKS(NormGradientBlock<T, false>);                           \
  TRAINYARD_BLOCKS(NormGradientBlock<T, true>)

TRAINYARD_NORM_BLOCKS(float);
TRAINYARD_NORM_BLOCKS(BFloat16);
TRAINYARD_NORM_BLOCKS(Float16);

#undef TRAINYARD_NORM_BLOCKS

TRAINYARD_BLOCKS(NormPartialsBlock<NormPartialsEnd>);
TRAINYARD_BLOCKS(NormPartialsBlock<NormGradientTotals<1>>);
TRAINYARD_BLOCKS(NormPartialsBlock<NormGradientTotals<2>>);

}  // namespace trainyard::cuda
