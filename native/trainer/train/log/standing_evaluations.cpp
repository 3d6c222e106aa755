#include "trainer/train/log/standing_evaluations.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace trainyard {
namespace {

bool has(const nlohmann::json& line, const char* field) {
  const auto found = line.find(field);
  return found != line.end() && found->is_number();
}

/// 0, or the step of the checkpoint from which the run goes on; nothing where its name tells none.
std::optional<int64_t> resumed_step(const nlohmann::json& start) {
  const auto from = start.find("resumed_from");
  if (from == start.end() || from->is_null()) return 0;
  if (!from->is_string()) return std::nullopt;
  const auto& name = from->get_ref<const std::string&>();
  const size_t at = name.rfind("step-");
  if (at == std::string::npos) return std::nullopt;
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data() + at + 5, end, step);
  return error == std::errc{} && stopped == end ? std::optional(step) : std::nullopt;
}

/// A folder with and without slashes at its end is the same.
std::string_view without_slashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

template <class T>
void erase_after(std::map<int64_t, T>& by_step, int64_t step) {
  by_step.erase(by_step.upper_bound(step), by_step.end());
}

}  // namespace

void StandingEvaluations::read(const std::string& line) {
  // Most lines are of other kinds, and parsing is slow.
  const auto names = [&](const char* kind) { return line.find(kind) != std::string::npos; };
  if (!names(R"("start")") && !names(R"("checkpoint")") && !names(R"("eval")")) return;
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object() || !has(object, "generation")) return;
  const std::string kind = object.value("kind", "");
  if (kind == "start") {
    const auto generation = object["generation"].get<int64_t>();
    if (generation < newest_) return;
    newest_ = generation;
    if (const auto after = resumed_step(object)) begin(generation, *after);
  } else if (kind == "checkpoint" && has(object, "step") && has(object, "time")) {
    read_checkpoint(object);
  } else if (kind == "eval" && has(object, "step") && has(object, "top1")) {
    read_evaluation(object);
  }
}

void StandingEvaluations::begin(int64_t generation, int64_t after) {
  newest_ = generation;
  std::erase_if(cuts_, [&](const Cut& cut) { return cut.after >= after; });
  if (cuts_.empty() || cuts_.back().generation != generation) cuts_.push_back({generation, after});
  erase_after(top1_, after);
  erase_after(loss_, after);
  erase_after(written_, after);
}

bool StandingEvaluations::is_superseded(int64_t generation, int64_t step) const {
  const auto cut = std::ranges::find_if(cuts_, [&](const Cut& each) { return each.generation > generation; });
  return cut != cuts_.end() && step > cut->after;
}

void StandingEvaluations::read_checkpoint(const nlohmann::json& line) {
  const auto generation = line["generation"].get<int64_t>();
  const auto step = line["step"].get<int64_t>();
  if (generation > newest_) begin(generation, step - 1);
  if (!is_superseded(generation, step)) written_[step] = line["time"].get<double>();
}

void StandingEvaluations::read_evaluation(const nlohmann::json& line) {
  const auto step = line["step"].get<int64_t>();
  if (is_superseded(line["generation"].get<int64_t>(), step)) {
    // It counts where it began after the newer generation had written that checkpoint again:
    // `trainer eval --once` names generation 1.
    const auto written = written_.find(step);
    if (written == written_.end() || !has(line, "time")) return;
    const double seconds = has(line, "seconds") ? line["seconds"].get<double>() : 0;
    if (written->second > line["time"].get<double>() - seconds) return;
  }
  if (!is_of_own_data(line)) return;
  top1_[step] = line["top1"].get<double>();
  loss_[step] = has(line, "loss") ? line["loss"].get<double>() : std::numeric_limits<double>::infinity();
}

bool StandingEvaluations::is_of_own_data(const nlohmann::json& line) {
  const auto found = line.find("data");
  if (found == line.end() || !found->is_string()) return true;  // of an older trainer
  const auto& data = found->get_ref<const std::string&>();
  const auto once = line.find("once");
  const bool beside_training = once == line.end() || *once != true;
  if (beside_training || own_.empty()) own_ = data;
  return without_slashes(own_) == without_slashes(data);
}

}  // namespace trainyard
