// The back end on one device.
#pragma once
#include <memory>

#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/library/abi.h"

namespace trainyard::cuda {

/// plans: as CudaLibrary::open has it.
std::unique_ptr<Backend> make_device_backend(int device, CudaFail fail, PlanChooser* plans);

}  // namespace trainyard::cuda
