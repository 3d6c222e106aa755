// Adam, and AdamW, which decays weights beside it: moments of the gradient and of its square,
// corrected for starting at zero. Formulas: adam_math.h.
#pragma once
#include "trainer/base/zeroed_floats.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

/// Where options.kind is adamw, that one.
class Adam final : public Optimizer {
 public:
  Adam(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size);
  void step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) override;
  /// By PyTorch's names.
  std::vector<OptimizerState> state() override { return {{".exp_avg", mean_.span()}, {".exp_avg_sq", square_.span()}}; }

 private:
  template <class Rule>
  void update(std::span<float> weights, std::span<const float> gradients, const Rule& rule);

  std::vector<ParameterRange> ranges_;
  OptimizerOptions options_;
  ZeroedFloats mean_;
  ZeroedFloats square_;
};

}  // namespace trainyard
