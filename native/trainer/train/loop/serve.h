// A parameter server's part in a training.
#pragma once
#include "common/error.h"
#include "trainer/strategies/report.h"
#include "trainer/strategies/team.h"
#include "trainer/train/plan/options.h"

namespace trainyard {

/// No data, no network, a heartbeat. Signals are the workers' to answer. Returns Exit::ok, or
/// Exit::stopped.
Exit serve(const TrainOptions& options, const Team& team);

/// This process's memory, as figures of its rank.
RankFigures rank_memory();

}  // namespace trainyard
