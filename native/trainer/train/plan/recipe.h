// What of a run's flags decides how weights change, as a checkpoint keeps it for the comparison at
// a resume.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/train/plan/options.h"
#include "trainer/train/plan/plan.h"

namespace trainyard {

/// The "recipe" of state.json: augmentation, accumulation, losses, optimizer's constants and
/// schedule.
nlohmann::json recipe_of(const TrainOptions& options, const TrainPlan& plan);

/// In what `recipe` differs from that of the checkpoint with `state`: "augment: standard, now
/// none", one a field. Of checkpoints of before "recipe" was there only augment, accumulate and the
/// schedule are compared.
std::vector<std::string> recipe_changes(const nlohmann::json& state, const nlohmann::json& recipe);

}  // namespace trainyard
