// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/resize.h"

namespace trainyard::cuda {

TRAINYARD_EACH(ResizeView);

}  // namespace trainyard::cuda
