// each() on the device.
#pragma once
#include <cuda_runtime_api.h>

#include "trainer/ops/cuda/kernels/instances.h"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

inline constexpr unsigned kThreads = 256;

template <class F>
__global__ void __launch_bounds__(kThreads) each_kernel(unsigned count, F f) {
  const unsigned stride = gridDim.x * kThreads;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < count; i += stride) f(i);
}

template <class F>
void each(const Launcher& launcher, size_t count, const F& f) {
  if (count == 0) return;
  if (count > kMostElements) {
    report_too_large(launcher, count);
    return;
  }
  // One element a thread up to 2^24 threads; beyond that, threads take several.
  constexpr size_t kMostBlocks = size_t{1} << 16U;
  const size_t blocks = (count + kThreads - 1) / kThreads;
  each_kernel<F><<<static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads, 0, launcher.stream>>>(
      static_cast<unsigned>(count), f);
  report_launch(launcher, static_cast<int>(cudaGetLastError()));
}

}  // namespace trainyard::cuda
