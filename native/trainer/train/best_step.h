// Which checkpoint evaluated best so far.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard {

/// The step of the "eval" line with the highest top1 in <run_dir>/metrics.jsonl (the earliest of
/// equals).
std::optional<int64_t> best_step(const std::string& run_dir);

/// How many checkpoints after that one were evaluated, none of them with a higher top1. 0 where
/// there is none. A step that was evaluated twice (training was resumed from before it) counts
/// once, as the newest line says.
int64_t evaluations_since_best(const std::string& run_dir);

}  // namespace trainyard
