#include "trainer/ops/cuda/kernels/blocks.cuh"
// After blocks(), which it instantiates.
#include "trainer/ops/cuda/kernels/norm/norm_pair_instances.h"
