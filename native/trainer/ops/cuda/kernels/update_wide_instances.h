// Which kernels there are, on the device and in the tests alike; included where each() and blocks()
// are defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/update_wide.h"

namespace trainyard::cuda {

TRAINYARD_EACH(UpdateWide<SgdRule>);
TRAINYARD_EACH(UpdateWide<AdamRule>);
TRAINYARD_EACH(UpdateWide<AdamwRule>);
TRAINYARD_EACH(UpdateWide<LarsRule>);
TRAINYARD_EACH(AddUpWide);
TRAINYARD_EACH(ScaleWide);
TRAINYARD_BLOCKS(PartSquares);
TRAINYARD_BLOCKS(RangeSums);

}  // namespace trainyard::cuda
