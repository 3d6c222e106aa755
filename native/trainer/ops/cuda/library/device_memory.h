// Memory of a device, from whoever hands it out.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// What a back end holds.
struct Ledger {
  uint64_t used = 0, peak = 0;
};

using DevicePointer = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;
/// So many bytes, not zeroed; nullptr where the device has none left.
using MemorySource = std::function<DevicePointer(size_t bytes)>;

/// cudaMalloc's.
MemorySource cuda_memory(const Launcher& launcher);
/// NCCL's own, which other GPUs can map and a switch can sum in. cudaMalloc's where NCCL has none to
/// give, which a line on stderr says.
MemorySource nccl_memory(const Launcher& launcher);

/// Zeros at first, in order with the ops. Fails where the device has no such memory left.
std::unique_ptr<BackendMemory> make_device_memory(const Launcher& launcher, std::shared_ptr<Ledger> ledger,
                                                  size_t bytes, const MemorySource& source);

}  // namespace trainyard::cuda
