// `trainer eval`: beside training, on each new checkpoint; or once.
#pragma once
#include "common/error.h"
#include "trainer/train/ending/stop_request.h"
#include "trainer/train/plan/options.h"

namespace trainyard {

/// With `once`: one evaluation, then done (Error(Exit::data) when there is no valid checkpoint).
/// Otherwise wakes every `interval` seconds until SIGTERM, then evaluates the newest checkpoint if
/// it has not yet, and returns.
Exit run_evaluator(const EvalOptions& options, const StopSignals& signals);

}  // namespace trainyard
