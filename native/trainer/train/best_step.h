// Which checkpoint evaluated best so far.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard {

/// The step of the "eval" line with the highest top1 in <run_dir>/metrics.jsonl (the earliest of equals).
std::optional<int64_t> best_step(const std::string& run_dir);

}  // namespace trainyard
