// `trainer bench step`: what a training step costs, apart from anything around it.
#pragma once
#include <nlohmann/json.hpp>

#include "trainer/comm/communicator.h"
#include "trainer/train/plan/options.h"

namespace trainyard {

/// {"model","precision","device","jpeg_decoder","world","batch_size","threads","steps","seconds","images_per_sec",
/// "step_ms","comm_ms","input_wait_ms","cpu_ms","memory_bytes","peak_bytes","first_step_at"}: rates
/// are of the whole world; cpu_ms is a step's processor time on all threads of this rank,
/// memory_bytes the model's own, peak_bytes the process's largest, first_step_at seconds since the
/// epoch. The same batch path as training: loader, network, all-reduce, optimizer.
nlohmann::json bench_step(const BenchStepOptions& options, Communicator& communicator);

}  // namespace trainyard
