// The flags of `trainer train` that say how weights are found: batch, optimizer, learning rate.
#pragma once
#include <CLI/CLI.hpp>

#include "trainer/train/plan/options.h"

namespace trainyard {

void add_recipe_flags(CLI::App& command, TrainOptions& options);

/// Throws Error(Exit::usage) naming a flag that was given and that the chosen optimizer, schedule
/// or strategy has no use for.
void check_recipe_flags(const CLI::App& command, const TrainOptions& options);

}  // namespace trainyard
