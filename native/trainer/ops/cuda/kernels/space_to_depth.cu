#include "trainer/ops/cuda/kernels/each.cuh"
// After each(), which it instantiates.
#include "trainer/ops/cuda/kernels/space_to_depth_instances.h"
