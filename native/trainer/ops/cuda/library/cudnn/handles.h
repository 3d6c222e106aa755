// Owners of what CUDA's libraries hand out.
#pragma once
#include <memory>
#include <type_traits>

#include "trainer/ops/cuda/library/check.h"

namespace trainyard::cuda {

/// Frees by a function of C. What it returns is of no use any more when something is being thrown
/// away.
template <auto free>
struct FreeBy {
  template <class T>
  void operator()(T* handle) const {
    (void)free(handle);
  }
};

using Stream = std::unique_ptr<CUstream_st, FreeBy<cudaStreamDestroy>>;
using Event = std::unique_ptr<CUevent_st, FreeBy<cudaEventDestroy>>;
using CapturedGraph = std::unique_ptr<CUgraph_st, FreeBy<cudaGraphDestroy>>;
using GraphExecutable = std::unique_ptr<CUgraphExec_st, FreeBy<cudaGraphExecDestroy>>;
using PinnedMemory = std::unique_ptr<std::byte, FreeBy<cudaFreeHost>>;
using BlasHandle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, FreeBy<cublasDestroy>>;
using DnnHandle = std::unique_ptr<std::remove_pointer_t<cudnnHandle_t>, FreeBy<cudnnDestroy>>;

inline Stream make_stream(const Launcher& launcher) {
  cudaStream_t stream = nullptr;
  check(launcher, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return Stream(stream);
}

/// flags: cudaEventDisableTiming where nobody asks how long anything took.
inline Event make_event(const Launcher& launcher, unsigned flags) {
  cudaEvent_t event = nullptr;
  check(launcher, cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  return Event(event);
}

/// Plain fp32: no TF32.
inline BlasHandle make_blas(const Launcher& launcher) {
  cublasHandle_t handle = nullptr;
  check(launcher, cublasCreate(&handle), "cublasCreate");
  BlasHandle owner(handle);
  check(launcher, cublasSetStream(handle, launcher.stream), "cublasSetStream");
  check(launcher, cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  return owner;
}

inline DnnHandle make_dnn(const Launcher& launcher) {
  cudnnHandle_t handle = nullptr;
  check(launcher, cudnnCreate(&handle), "cudnnCreate");
  DnnHandle owner(handle);
  check(launcher, cudnnSetStream(handle, launcher.stream), "cudnnSetStream");
  return owner;
}

}  // namespace trainyard::cuda
