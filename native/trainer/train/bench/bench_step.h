// `trainer bench step`: what a training step costs, apart from anything around it.
#pragma once
#include <nlohmann/json.hpp>

#include "trainer/comm/communicator.h"
#include "trainer/train/plan/options.h"

namespace trainyard {

/// The object of docs/contracts/trainer.md ("Benchmarks"). Loader (but for synthetic images, of
/// which one batch is drawn beforehand), network, all-reduce and optimizer are those of training.
nlohmann::json bench_step(const BenchStepOptions& options, Communicator& communicator);

}  // namespace trainyard
