// How kernels are instantiated, on the device and in the tests alike: inside namespace
// trainyard::cuda.
#pragma once
#include "trainer/ops/cuda/launch.h"

// Instances of each(): of arithmetic, and of arithmetic on whatever a tensor is stored in.
#define TRAINYARD_EACH(F) template void each(const Launcher&, size_t, const F&)
#define TRAINYARD_EACH_STORED(F) \
  TRAINYARD_EACH(F<float>);      \
  TRAINYARD_EACH(F<BFloat16>);   \
  TRAINYARD_EACH(F<Float16>)
