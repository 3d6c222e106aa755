#include "trainer/train/loop/best_step.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "trainer/train/log/standing_evaluations.h"

namespace trainyard {
namespace {

StandingEvaluations evaluations(const std::string& run_dir, const std::string& own) {
  std::ifstream file(run_dir + "/metrics.jsonl");
  StandingEvaluations standing(own);
  for (std::string line; std::getline(file, line);) standing.read(line);
  return standing;
}

using Top1 = std::map<int64_t, double>;

/// The earliest of the highest top-1.
Top1::const_iterator first_best(const Top1& all) {
  return std::ranges::max_element(all, {}, &Top1::value_type::second);
}

}  // namespace

std::optional<int64_t> best_step(const std::string& run_dir, const std::string& eval_data) {
  const StandingEvaluations all = evaluations(run_dir, eval_data);
  if (all.top1().empty()) return std::nullopt;
  auto best = first_best(all.top1());
  for (auto at = best; at != all.top1().end(); ++at) {
    if (at->second == best->second && all.loss().at(at->first) <= all.loss().at(best->first)) best = at;
  }
  return best->first;
}

int64_t evaluations_since_best(const std::string& run_dir, const std::string& eval_data) {
  const StandingEvaluations standing = evaluations(run_dir, eval_data);
  const Top1& all = standing.top1();
  return all.empty() ? 0 : std::distance(first_best(all), all.end()) - 1;
}

bool is_evaluated(const std::string& run_dir, const std::string& eval_data, int64_t step) {
  return evaluations(run_dir, eval_data).top1().contains(step);
}

}  // namespace trainyard
