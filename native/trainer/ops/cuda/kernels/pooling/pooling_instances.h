// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/pooling.h"

namespace trainyard::cuda {

TRAINYARD_EACH_STORED(MaxPool);
TRAINYARD_EACH_STORED(MaxPoolGradient);
TRAINYARD_EACH_STORED(AvgPool);
TRAINYARD_EACH_STORED(AvgPoolGradient);
TRAINYARD_EACH_STORED(GlobalAverage);
TRAINYARD_EACH_STORED(GlobalAverageGradient);
TRAINYARD_EACH_STORED(Shortcut);
TRAINYARD_EACH_STORED(ShortcutGradient);

}  // namespace trainyard::cuda
