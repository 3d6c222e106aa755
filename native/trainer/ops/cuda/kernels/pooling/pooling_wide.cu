#include "trainer/ops/cuda/kernels/each.cuh"
// After each(), which it instantiates.
#include "trainer/ops/cuda/kernels/pooling/pooling_wide_instances.h"
