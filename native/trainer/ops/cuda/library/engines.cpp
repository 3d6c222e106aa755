#include "trainer/ops/cuda/library/engines.h"

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

std::optional<Plan> finish(const Launcher& launcher, const Target& target, const Descriptor& configuration,
                           int64_t index) {
  Descriptor plan(launcher, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (target.properties != nullptr) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
  }
  if (!plan.try_finalize()) return std::nullopt;
  const int64_t workspace = plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  if (workspace > kMostWorkspace) return std::nullopt;
  return Plan{std::move(plan), static_cast<size_t>(workspace), "engine " + std::to_string(index), false, false};
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
      found.push_back({std::move(configuration), engine.index, engine.transforms(), tensor_cores});
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
    auto plan = finish(launcher, target, candidate.configuration, candidate.engine);
    if (!plan) continue;
    plan->transforms = candidate.transforms;
    plan->tensor_cores = candidate.tensor_cores;
    return plan;
  }
  return std::nullopt;
}

}  // namespace trainyard::cuda
