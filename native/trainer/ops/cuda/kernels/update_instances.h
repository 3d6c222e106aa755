// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/update.h"

namespace trainyard::cuda {

TRAINYARD_EACH(LarsRates);
TRAINYARD_EACH(AddUp);
TRAINYARD_EACH(Scale);

}  // namespace trainyard::cuda
