// Which kernels there are, on the device and in the tests alike; included where each() is defined.
#pragma once
#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/math/dropout.h"
#include "trainer/ops/cuda/math/elementwise.h"

namespace trainyard::cuda {

TRAINYARD_EACH_STORED(InputNormalise);
TRAINYARD_EACH_STORED(AddTo);
TRAINYARD_EACH_STORED(Round);
TRAINYARD_EACH_STORED(Widen);
TRAINYARD_EACH_STORED(CopyChannels);
TRAINYARD_EACH_STORED(Dropout);
TRAINYARD_EACH_STORED(AddBias);
TRAINYARD_EACH_STORED(MaskByOutput);
TRAINYARD_EACH_STORED(ToChannelsLast);
TRAINYARD_EACH_STORED(ToChannelsFirst);

}  // namespace trainyard::cuda
