// A batch norm as other layers see it: the layer behind one may take it over and compute both in
// one op, where the back end has such an op.
#pragma once
#include <memory>

#include "trainer/layers/layer.h"
#include "trainer/layers/planner.h"

namespace trainyard {

struct Normalisation {
  ValueId x = -1;
  bool relu = false;
  ValueId residual = -1;  ///< -1: none is added
  double eps = 0;
  // Where its numbers lie in the arenas.
  size_t weight = 0;
  size_t bias = 0;
  size_t mean = 0;
  size_t variance = 0;
};

/// What the op that made an activation has added up of it.
inline ChannelSums channel_sums(const Run& run, const Planner::PlannedSums& planned) {
  if (planned.rows == 0) return {};
  return {static_cast<const float*>(run.at(planned.slot)), planned.rows};
}

/// `layer` together with the batch norm whose output it adds, or nullptr where they are no pair of
/// BatchNormPairOp, or are read elsewhere, or the back end has no such op.
std::unique_ptr<Stage> compile_norm_pair(const Layer& layer, const Graph& graph, Planner& planner, Backend& backend,
                                         const Purpose& purpose);

struct PoolWindow {
  int kernel, stride, pad;
};

/// Max pooling, `layer`, together with the batch norm that it pools, or nullptr where its input is
/// none with a ReLU, is read elsewhere, or the back end has no such op.
std::unique_ptr<Stage> compile_norm_pool(const Layer& layer, const PoolWindow& window, const Graph& graph,
                                         Planner& planner, Backend& backend, const Purpose& purpose);

}  // namespace trainyard
