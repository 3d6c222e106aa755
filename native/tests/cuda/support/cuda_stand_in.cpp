// Stands where CUDA's runtime would, as far as streams and events go: every call succeeds and every
// event has passed, as on a device that is done at once.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/ops/host/tape.h"

namespace {

/// A handle that nobody looks into.
template <class T>
cudaError_t hand_out(T* handle) {
  *handle = reinterpret_cast<T>(handle);
  return cudaSuccess;
}

}  // namespace

/// A stream on which kernels are played on the host, at once.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int /*flags*/) {
  *stream = std::make_unique<trainyard::test::Tape>().release()->stream();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::unique_ptr<trainyard::test::Tape> owner(reinterpret_cast<trainyard::test::Tape*>(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t /*stream*/, cudaEvent_t /*event*/, unsigned int /*flags*/) {
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int /*flags*/) { return hand_out(event); }
cudaError_t cudaEventDestroy(cudaEvent_t /*event*/) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t /*event*/) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t /*from*/, cudaEvent_t /*to*/) {
  *milliseconds = 0;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t /*stream*/) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = 0;
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t /*error*/) { return "cudaSuccess"; }
const char* cudaGetErrorString(cudaError_t /*error*/) { return "no error"; }
