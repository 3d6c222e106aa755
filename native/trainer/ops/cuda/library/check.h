// Errors of CUDA's calls as errors a person can act on.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// Nothing for success; otherwise fails with the call, the error's name, and what to do.
void check(const Launcher& launcher, cudaError_t error, const char* call);
void check(const Launcher& launcher, cublasStatus_t status, const char* call);
void check(const Launcher& launcher, cudnnStatus_t status, const char* call);

/// Fails: no memory of `bytes` is left. Names what was asked, used and free.
void fail_out_of_memory(const Launcher& launcher, size_t bytes);

}  // namespace trainyard::cuda
