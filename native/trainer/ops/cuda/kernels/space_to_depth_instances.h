// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/space_to_depth.h"

namespace trainyard::cuda {

TRAINYARD_EACH(SpaceToDepth<BFloat16>);
TRAINYARD_EACH(SpaceToDepth<Float16>);
TRAINYARD_EACH(DepthToSpace<BFloat16>);
TRAINYARD_EACH(DepthToSpace<Float16>);

}  // namespace trainyard::cuda
