#include "trainer/ops/cuda/library/check.h"

#include <string>

#include "common/error.h"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/library/cuda_release.h"

namespace trainyard::cuda {

namespace {

void fail(const Launcher& launcher, const std::string& message, bool worth_retrying) {
  launcher.fail(static_cast<int>(Exit::device), message.c_str(), worth_retrying);
}

/// False for what stays until a person changes something: the driver, the GPUs that are there,
/// memory asked for.
bool is_worth_retrying(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorNotSupported:
      return false;
    default:
      return true;
  }
}

/// What a person can do about an error of the driver.
std::string advice(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return "Install the NVIDIA driver, release " TRAINYARD_OLDEST_DRIVER " or newer, or use --device cpu";
    case cudaErrorNoDevice:
      return "Check that nvidia-smi lists a GPU and that CUDA_VISIBLE_DEVICES is not empty, or use --device cpu";
    case cudaErrorInvalidDevice:
      return "Start no more ranks than there are GPUs, and check CUDA_VISIBLE_DEVICES";
    case cudaErrorNoKernelImageForDevice:
      return "This build has no code for this GPU. Build the CUDA library for it, or use --device cpu";
    case cudaErrorDevicesUnavailable:
      return "Another process holds the GPU for itself alone. End it, or choose another GPU";
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
      return "Start again with --resume auto. If it comes back on the same GPU, take that GPU out; if on others too, "
             "report it";
    default:
      return "Start again with --resume auto. If it comes back, report it";
  }
}

std::string mebibytes(size_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

}  // namespace

void check(const Launcher& launcher, cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  // Somebody may go on another way, and must not be told of this one by the next launch.
  (void)cudaGetLastError();
  fail(launcher,
       std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + "). " + advice(error),
       is_worth_retrying(error));
}

void check(const Launcher& launcher, cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const bool lasting = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH ||
                       status == CUBLAS_STATUS_INVALID_VALUE || status == CUBLAS_STATUS_ALLOC_FAILED;
  fail(launcher, std::string(call) + ": " + cublasGetStatusName(status) + ". " + advice(cudaErrorUnknown), !lasting);
}

void check(const Launcher& launcher, cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  // cuDNN counts what it does not support, and parameters it does not take, from 2000 and 3000 on.
  const bool lasting = status >= 2000 && status < 4000;
  fail(launcher, std::string(call) + ": " + cudnnGetErrorString(status) + ". " + advice(cudaErrorUnknown), !lasting);
}

void fail_out_of_memory(const Launcher& launcher, size_t bytes) {
  size_t free = 0;
  size_t total = 0;
  (void)cudaGetLastError();  // the failed allocation's, which would otherwise be taken for a kernel's
  check(launcher, cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  fail(launcher,
       "out of GPU memory: " + mebibytes(bytes) + " asked for, " + mebibytes(total - free) + " in use, " +
           mebibytes(free) + " free of " + mebibytes(total) +
           ". Lower --batch-size or --image-size, or end what else uses this GPU",
       false);
}

void report_launch(const Launcher& launcher, int cuda_error) {
  check(launcher, static_cast<cudaError_t>(cuda_error), "kernel launch");
}

}  // namespace trainyard::cuda
