#include "trainer/ops/cuda/kernels/each.cuh"
#include "trainer/ops/cuda/math/update.h"

namespace trainyard::cuda {

TRAINYARD_EACH(SgdUpdate);
TRAINYARD_EACH(AdamUpdate);
TRAINYARD_EACH(LarsUpdate);
TRAINYARD_EACH(LarsRates);
TRAINYARD_EACH(BlockSquares);
TRAINYARD_EACH(FoldLanes);
TRAINYARD_EACH(FoldBlocks);
TRAINYARD_EACH(Scale);

}  // namespace trainyard::cuda
