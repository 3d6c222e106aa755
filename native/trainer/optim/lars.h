// Layer-wise adaptive rate scaling.
#pragma once
#include "trainer/base/zeroed_floats.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

/// You et al. 2017, arXiv:1708.03888, algorithm 1, the paper's own variant: each weight tensor has
/// its own rate, trust * |w| / (|g| + weight_decay * |w|) times the global one, which goes into the
/// momentum (so a change of the learning rate acts on new gradients only; variants that multiply
/// the momentum afterwards differ). Batch norm and biases keep the global rate and, unless asked
/// for, have no weight decay. Formulas: lars_math.h.
class Lars final : public Optimizer {
 public:
  Lars(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size);
  void step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) override;
  std::vector<OptimizerState> state() override { return {{".momentum", velocity_.span()}}; }

 private:
  std::vector<ParameterRange> ranges_;
  OptimizerOptions options_;
  ZeroedFloats velocity_;
};

}  // namespace trainyard
