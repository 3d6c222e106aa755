// Arithmetic that a GPU's kernels share with the CPU's loops is marked so that both compilers take
// it.
#pragma once

#ifdef __CUDACC__
#define TRAINYARD_HOST_DEVICE __host__ __device__
#else
#define TRAINYARD_HOST_DEVICE
#endif
