// Arithmetic that runs on the device and, to be proven, on the host: the same functions, compiled
// by both compilers. Neither side fuses a product and a sum unless fma is written, so both give the
// same bits wherever the functions they call do.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/tensor/dtype.h"

#if defined(__CUDACC__)
#define TRAINYARD_HD __host__ __device__ __forceinline__
#else
#define TRAINYARD_HD inline
#endif

// UNROLL stands before a loop whose count the device's compiler knows: arrays then live in
// registers. KEEP_LOOP stands before one that it would unroll for nothing.
#if defined(__CUDA_ARCH__)
#define TRAINYARD_UNROLL _Pragma("unroll")
#define TRAINYARD_KEEP_LOOP _Pragma("unroll 1")
#else
#define TRAINYARD_UNROLL
#define TRAINYARD_KEEP_LOOP
#endif
