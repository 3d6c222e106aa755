// Of which CUDA this library is built: what NVIDIA's other libraries are called, and what driver
// runs it.
#pragma once
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
#define TRAINYARD_CUDA_RELEASE "13"
#define TRAINYARD_WHEEL_SUFFIX ""
#define TRAINYARD_OLDEST_DRIVER "580"
#else
#define TRAINYARD_CUDA_RELEASE "12"
#define TRAINYARD_WHEEL_SUFFIX "-cu12"
#define TRAINYARD_OLDEST_DRIVER "525"
#endif
