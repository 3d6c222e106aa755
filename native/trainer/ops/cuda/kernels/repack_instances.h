// Which kernels there are, on the device and in the tests alike; included where blocks() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/repack.h"

namespace trainyard::cuda {

TRAINYARD_BLOCKS(PackAll);
TRAINYARD_BLOCKS_STORED(Unpack);

}  // namespace trainyard::cuda
