// blocks() on the device.
#pragma once
#include <cuda_runtime_api.h>

#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/kernels/report.h"

namespace trainyard::cuda {

/// The phases from the given one on, with a barrier before each but the first.
template <int phase, class F>
__device__ __forceinline__ void run_phases(const F& f, typename F::Thread& thread, typename F::Shared& shared) {
  if constexpr (phase < F::kPhases) {
    if constexpr (phase > 0) __syncthreads();
    f.template run<phase>(blockIdx.x, threadIdx.x, thread, shared);
    run_phases<phase + 1>(f, thread, shared);
  }
}

template <class F>
__global__ void __launch_bounds__(kBlockThreads, F::kResident) blocks_kernel(const F f) {
  __shared__ typename F::Shared shared;
  typename F::Thread thread;
  run_phases<0>(f, thread, shared);
}

template <class F>
void blocks(const Launcher& launcher, size_t count, const F& f) {
  if (count == 0) return;
  if (count > kMostElements - 1) {  // what a grid has at most
    report_too_large(launcher, count);
    return;
  }
  blocks_kernel<F><<<static_cast<unsigned>(count), kBlockThreads, 0, launcher.stream>>>(f);
  report_launch(launcher, static_cast<int>(cudaGetLastError()));
}

}  // namespace trainyard::cuda
