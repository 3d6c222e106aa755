// The flags of `trainer train` that say where variables live and how gradients meet.
#pragma once
#include <CLI/CLI.hpp>

#include "trainer/strategies/team.h"

namespace trainyard {

/// --comm, of every verb whose ranks train together.
void add_comm_flag(CLI::App& command, std::string& comm);

/// --allreduce.
void add_all_reduce_flag(CLI::App& command, std::string& all_reduce);

/// --gradient-type.
void add_gradient_type_flag(CLI::App& command, std::string& gradient_type);

void add_strategy_flags(CLI::App& command, StrategyOptions& options);

}  // namespace trainyard
