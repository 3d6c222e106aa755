#include "trainer/ops/cuda/kernels/blocks.cuh"
// After blocks(), which it instantiates.
#include "trainer/ops/cuda/kernels/repack_instances.h"
