// Ops kept as a CUDA graph.
#pragma once
#include <functional>
#include <memory>

#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// Of what `ops` puts on launcher.stream. See Backend::record.
std::unique_ptr<Recording> record_graph(const Launcher& launcher, const std::function<void()>& ops);

}  // namespace trainyard::cuda
