#include "trainer/train/best_step.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace trainyard {

std::optional<int64_t> best_step(const std::string& run_dir) {
  std::ifstream file(run_dir + "/metrics.jsonl");
  std::optional<int64_t> best;
  double top1 = -1;
  for (std::string line; std::getline(file, line);) {
    if (line.find(R"("kind":"eval")") == std::string::npos) continue;
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_discarded() || !object.contains("top1") || !object.contains("step")) continue;
    if (object["top1"].get<double>() <= top1) continue;
    top1 = object["top1"].get<double>();
    best = object["step"].get<int64_t>();
  }
  return best;
}

}  // namespace trainyard
