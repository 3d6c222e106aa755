#include "trainer/train/best_step.h"

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace trainyard {
namespace {

/// top1 by step; lines of a newer generation take the place of older ones of the same or later
/// steps.
std::map<int64_t, double> evaluations(const std::string& run_dir) {
  std::ifstream file(run_dir + "/metrics.jsonl");
  std::map<int64_t, double> found;
  int64_t generation = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find(R"("kind":"eval")") == std::string::npos) continue;
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_discarded() || !object.contains("top1") || !object.contains("step")) continue;
    const auto step = object["step"].get<int64_t>();
    const int64_t of = object.value("generation", generation);
    if (of > generation) found.erase(found.lower_bound(step), found.end());
    generation = of;
    found[step] = object["top1"].get<double>();
  }
  return found;
}

std::map<int64_t, double>::const_iterator best_of(const std::map<int64_t, double>& all) {
  auto best = all.begin();
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (at->second > best->second) best = at;
  }
  return best;
}

}  // namespace

std::optional<int64_t> best_step(const std::string& run_dir) {
  const auto all = evaluations(run_dir);
  return all.empty() ? std::nullopt : std::optional(best_of(all)->first);
}

int64_t evaluations_since_best(const std::string& run_dir) {
  const auto all = evaluations(run_dir);
  return all.empty() ? 0 : std::distance(best_of(all), all.end()) - 1;
}

}  // namespace trainyard
