// Where candidates for fused work are measured: memory and time of a device.
#pragma once
#include <memory>

#include "trainer/ops/cuda/fused/fused_kernels.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// launcher: lives as long as the bench.
std::unique_ptr<FusedBench> make_fused_bench(const Launcher& launcher);

}  // namespace trainyard::cuda
