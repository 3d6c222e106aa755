#include "trainer/ops/cuda/library/cudnn/engines.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard::cuda {

namespace {

/// More than this for one convolution is memory that a larger batch would use better.
constexpr int64_t kMostWorkspace = int64_t{1} << 30;

using Notes = std::vector<cudnnBackendNumericalNote_t>;

/// The engine configurations cuDNN's heuristics suggest, best first.
std::vector<Descriptor> suggestions(const Launcher& launcher, const Target& target, const Descriptor& graph,
                                    cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(launcher, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .raw(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (target.properties != nullptr) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  if (!heuristics.try_finalize()) return {};
  int64_t count = 0;
  check(launcher,
        cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                 &count, nullptr),
        "cudnnBackendGetAttribute");
  std::vector<Descriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; i < count; ++i) {
    configurations.emplace_back(launcher, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    handles.push_back(configurations.back().get());
  }
  int64_t given = 0;
  check(launcher,
        cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                                 &given, static_cast<void*>(handles.data())),
        "cudnnBackendGetAttribute");
  while (static_cast<int64_t>(configurations.size()) > given) configurations.pop_back();
  return configurations;
}

struct Engine {
  int64_t index = 0;
  Notes notes;

  bool has(cudnnBackendNumericalNote_t note) const {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  }
  /// Sums in fp32 of factors as they are stored, and the same bits every time. Tensor cores take
  /// fp32 as TF32.
  bool computes(Arithmetic arithmetic) const {
    if (has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) || has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) {
      return false;
    }
    if (has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) return false;
    return arithmetic != Arithmetic::exact || !has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  }
  bool transforms() const {
    return has(CUDNN_NUMERICAL_NOTE_FFT) || has(CUDNN_NUMERICAL_NOTE_WINOGRAD) ||
           has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4) || has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) ||
           has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);
  }
};

Engine engine_of(const Launcher& launcher, const Descriptor& configuration) {
  const Descriptor engine(launcher, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = engine.get();
  int64_t count = 0;
  check(launcher,
        cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                 &count, static_cast<void*>(&handle)),
        "cudnnBackendGetAttribute");
  Engine found;
  found.index = engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  found.notes.resize(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  check(launcher,
        cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, found.notes.data()),
        "cudnnBackendGetAttribute");
  found.notes.resize(static_cast<size_t>(count));
  return found;
}

/// " 2=1 13=0": the settings of an engine that the heuristics chose.
std::string knobs_of(const Launcher& launcher, const Descriptor& configuration) {
  std::vector<Descriptor> choices;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    choices.emplace_back(launcher, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    handles.push_back(choices.back().get());
  }
  int64_t count = 0;
  check(launcher,
        cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                 static_cast<int64_t>(handles.size()), &count, static_cast<void*>(handles.data())),
        "cudnnBackendGetAttribute");
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    const Descriptor& choice = choices[static_cast<size_t>(i)];
    cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
    int64_t given = 0;
    check(launcher,
          cudnnBackendGetAttribute(choice.get(), CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &given,
                                   &type),
          "cudnnBackendGetAttribute");
    text += " " + std::to_string(static_cast<int>(type)) + "=" +
            std::to_string(choice.number(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return text;
}

std::optional<Plan> finish(const Launcher& launcher, const Target& target, const Candidate& candidate) {
  Descriptor plan(launcher, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, candidate.configuration);
  if (target.properties != nullptr) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
  }
  if (!plan.try_finalize()) return std::nullopt;
  const int64_t workspace = plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  if (workspace > kMostWorkspace) return std::nullopt;
  return Plan{std::move(plan), static_cast<size_t>(workspace), "engine " + std::to_string(candidate.engine),
              candidate.tag,   candidate.transforms,           candidate.tensor_cores};
}

}  // namespace

std::vector<Candidate> candidates(const Launcher& launcher, const Target& target, const Descriptor& graph,
                                  Arithmetic arithmetic) {
  std::vector<Candidate> found;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (Descriptor& configuration : suggestions(launcher, target, graph, mode)) {
      const Engine engine = engine_of(launcher, configuration);
      if (!engine.computes(arithmetic)) continue;
      const bool tensor_cores = engine.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
      std::string tag = "engine " + std::to_string(engine.index) + knobs_of(launcher, configuration);
      found.push_back({std::move(configuration), engine.index, std::move(tag), engine.transforms(), tensor_cores});
    }
  }
  if (arithmetic != Arithmetic::exact) {
    std::stable_partition(found.begin(), found.end(), [](const Candidate& c) { return c.tensor_cores; });
  }
  std::stable_partition(found.begin(), found.end(), [](const Candidate& c) { return !c.transforms; });
  return found;
}

std::optional<Plan> choose_plan(const Launcher& launcher, const Target& target, const Descriptor& graph,
                                Arithmetic arithmetic) {
  for (const Candidate& candidate : candidates(launcher, target, graph, arithmetic)) {
    if (auto plan = finish(launcher, target, candidate)) return plan;
  }
  return std::nullopt;
}

std::optional<Plan> tuned_plan(const Launcher& launcher, const Target& target, const Descriptor& graph,
                               Arithmetic arithmetic, const Tuning& tuning) {
  const std::vector<Candidate> found = candidates(launcher, target, graph, arithmetic);
  const std::string before = tuning.chooser.chosen(tuning.question);
  for (const Candidate& candidate : found) {
    if (before.empty() || candidate.tag != before) continue;
    if (auto plan = finish(launcher, target, candidate)) return plan;
  }
  std::vector<Plan> plans;
  std::vector<std::string> tags;
  for (const Candidate& candidate : found) {
    if (plans.size() == tuning.chooser.most_candidates()) break;
    // The heuristics and their fallback may name the same.
    if (std::ranges::find(tags, candidate.tag) != tags.end()) continue;
    if (!plans.empty() && candidate.transforms != plans.front().transforms) continue;
    auto plan = finish(launcher, target, candidate);
    if (!plan) continue;
    tags.push_back(plan->tag);
    plans.push_back(std::move(*plan));
  }
  if (plans.empty()) return std::nullopt;
  const size_t chosen =
      tuning.chooser.choose(tuning.question, tags, [&](size_t plan) { return tuning.time(plans, plan); });
  return std::move(plans[chosen]);
}

}  // namespace trainyard::cuda
