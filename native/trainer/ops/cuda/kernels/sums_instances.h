// Which kernels there are, on the device and in the tests alike; included where each() and blocks()
// are defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/sums.h"

namespace trainyard::cuda {

TRAINYARD_EACH_STORED(AddToWide);
TRAINYARD_BLOCKS_STORED(ColumnSumsBlock);

}  // namespace trainyard::cuda
