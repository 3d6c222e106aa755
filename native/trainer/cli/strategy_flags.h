// The flags of `trainer train` that say where variables live and how gradients meet.
#pragma once
#include <CLI/CLI.hpp>

#include "trainer/strategies/team.h"

namespace trainyard {

void add_strategy_flags(CLI::App& command, StrategyOptions& options);

}  // namespace trainyard
