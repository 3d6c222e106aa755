#include "trainer/ops/cuda/kernels/each.cuh"
// After each(), which it instantiates.
#include "trainer/ops/cuda/kernels/norm/batch_norm_instances.h"
