#include "trainer/ops/cuda/library/device_memory.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "trainer/ops/cuda/library/check.h"
#include "trainer/ops/cuda/library/loaded/nccl_api.h"

namespace trainyard::cuda {

namespace {

class DeviceMemory final : public BackendMemory {
 public:
  DeviceMemory(const Launcher& launcher, std::shared_ptr<Ledger> ledger, size_t bytes, const MemorySource& source)
      : ledger_(std::move(ledger)), bytes_(bytes) {
    // Of a network without batch norm the running statistics are nothing, and CUDA knows no memory
    // of no bytes.
    if (bytes == 0) return;
    data_ = source(bytes);
    if (!data_) fail_out_of_memory(launcher, bytes);
    check(launcher, cudaMemsetAsync(data_.get(), 0, bytes, launcher.stream), "cudaMemsetAsync");
    ledger_->used += bytes_;
    ledger_->peak = std::max(ledger_->peak, ledger_->used);
  }
  ~DeviceMemory() override {
    if (data_) ledger_->used -= bytes_;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::byte* data() const override { return data_.get(); }
  size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<Ledger> ledger_;
  DevicePointer data_;
  size_t bytes_;
};

}  // namespace

MemorySource cuda_memory(const Launcher& launcher) {
  return [launcher](size_t bytes) -> DevicePointer {
    void* data = nullptr;
    const cudaError_t error = cudaMalloc(&data, bytes);
    if (error == cudaErrorMemoryAllocation) return nullptr;
    check(launcher, error, "cudaMalloc");
    return {static_cast<std::byte*>(data), [](std::byte* memory) { (void)cudaFree(memory); }};
  };
}

MemorySource nccl_memory(const Launcher& launcher) {
  MemorySource otherwise = cuda_memory(launcher);
#ifdef TRAINYARD_NCCL
  const NcclApi api = load_nccl_api(launcher);
  if (api.mem_alloc != nullptr) {
    return [api, otherwise](size_t bytes) -> DevicePointer {
      void* data = nullptr;
      const ncclResult_t result = api.mem_alloc(&data, bytes);
      if (result != ncclSuccess) {
        (void)cudaGetLastError();  // which would otherwise be taken for a kernel's
        std::fprintf(stderr, "trainer: note: ncclMemAlloc: %s. Gradients lie in other memory, where sums take longer\n",
                     api.get_error_string(result));
        return otherwise(bytes);
      }
      return {static_cast<std::byte*>(data), [release = api.mem_free](std::byte* memory) {
                // Unlike cudaFree, it does not wait for what still uses the memory.
                (void)cudaDeviceSynchronize();
                (void)release(memory);
              }};
    };
  }
#endif
  return otherwise;
}

std::unique_ptr<BackendMemory> make_device_memory(const Launcher& launcher, std::shared_ptr<Ledger> ledger,
                                                  size_t bytes, const MemorySource& source) {
  return std::make_unique<DeviceMemory>(launcher, std::move(ledger), bytes, source);
}

}  // namespace trainyard::cuda
