// How kernels are instantiated, on the device and in the tests alike: inside namespace
// trainyard::cuda.
#pragma once
#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/launch.h"

// Instances of each(): of arithmetic, and of arithmetic on whatever a tensor is stored in.
#define TRAINYARD_EACH(F) template void each(const Launcher&, size_t, const F&)
#define TRAINYARD_EACH_STORED(F) \
  TRAINYARD_EACH(F<float>);      \
  TRAINYARD_EACH(F<BFloat16>);   \
  TRAINYARD_EACH(F<Float16>)

// The same of blocks(). Variadic: commas stand between a kernel's template arguments.
#define TRAINYARD_BLOCKS(...) template void blocks(const Launcher&, size_t, const __VA_ARGS__&)
#define TRAINYARD_BLOCKS_STORED(F) \
  TRAINYARD_BLOCKS(F<float>);      \
  TRAINYARD_BLOCKS(F<BFloat16>);   \
  TRAINYARD_BLOCKS(F<Float16>)
