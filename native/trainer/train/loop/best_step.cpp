#include "trainer/train/loop/best_step.h"

#include <fstream>
#include <iterator>
#include <map>

#include "trainer/train/log/standing_evaluations.h"

namespace trainyard {
namespace {

/// top-1 accuracy by step, of the evaluations that stand and count.
std::map<int64_t, double> evaluations(const std::string& run_dir, const std::string& own) {
  std::ifstream file(run_dir + "/metrics.jsonl");
  StandingEvaluations standing(own);
  for (std::string line; std::getline(file, line);) standing.read(line);
  return standing.top1();
}

std::map<int64_t, double>::const_iterator best_of(const std::map<int64_t, double>& all) {
  auto best = all.begin();
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (at->second > best->second) best = at;
  }
  return best;
}

}  // namespace

std::optional<int64_t> best_step(const std::string& run_dir, const std::string& eval_data) {
  const auto all = evaluations(run_dir, eval_data);
  return all.empty() ? std::nullopt : std::optional(best_of(all)->first);
}

int64_t evaluations_since_best(const std::string& run_dir, const std::string& eval_data) {
  const auto all = evaluations(run_dir, eval_data);
  return all.empty() ? 0 : std::distance(best_of(all), all.end()) - 1;
}

}  // namespace trainyard
