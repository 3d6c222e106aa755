// Which checkpoint evaluated best so far.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard {

/// The step of the standing evaluation (standing_evaluations.h) with the highest top-1 in
/// <run_dir>/metrics.jsonl; of equals that of the lowest loss, of those the newest, as in
/// src/core/model/runMetrics.ts. `eval_data`: the run's own images, on which
/// alone an evaluation counts; empty where it names none.
std::optional<int64_t> best_step(const std::string& run_dir, const std::string& eval_data);

/// How many checkpoints with a standing evaluation there are after the first one with the highest
/// top-1: a lower loss alone is no reason to train on. 0 where there is none. A step that was
/// evaluated twice counts once, as the last line says.
int64_t evaluations_since_best(const std::string& run_dir, const std::string& eval_data);

/// Whether the checkpoint of `step` has a standing evaluation.
bool is_evaluated(const std::string& run_dir, const std::string& eval_data, int64_t step);

}  // namespace trainyard
