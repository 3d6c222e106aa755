// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/norm/norm_backward.h"
#include "trainer/ops/cuda/math/norm/norm_forward.h"

namespace trainyard::cuda {

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

}  // namespace trainyard::cuda
