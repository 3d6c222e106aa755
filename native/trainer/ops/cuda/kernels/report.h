// What a launcher says when it cannot launch; in the ops' own language, so that the device's
// compiler needs no strings.
#pragma once
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// Nothing for 0, cudaSuccess; otherwise fails with the error's name.
void report_launch(const Launcher& launcher, int cuda_error);
/// Fails: a tensor has more elements than kernels count.
void report_too_large(const Launcher& launcher, size_t count);

}  // namespace trainyard::cuda
