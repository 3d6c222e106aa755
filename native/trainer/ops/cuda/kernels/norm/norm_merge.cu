#include "trainer/ops/cuda/kernels/blocks.cuh"
#include "trainer/ops/cuda/kernels/each.cuh"
// After each() and blocks(), which it instantiates.
#include "trainer/ops/cuda/kernels/norm/norm_merge_instances.h"
