// `trainer train`.
#pragma once

#include "common/error.h"
#include "trainer/comm/communicator.h"
#include "trainer/train/ending/stop_request.h"
#include "trainer/train/plan/options.h"

namespace trainyard {

/// Trains until the plan is done or a stop is asked for. Returns Exit::ok, or Exit::stopped after
/// the checkpoint that a stop asks for. Throws Error. Called by every rank, workers and servers,
/// with the same options.
Exit train(const TrainOptions& options, Communicator& communicator, const StopSignals& signals);

}  // namespace trainyard
