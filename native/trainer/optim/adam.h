// Adam: moments of the gradient and of its square, corrected for starting at zero. Formulas: adam_math.h.
#pragma once
#include "trainer/optim/optimizer.h"

namespace trainyard {

class Adam final : public Optimizer {
 public:
  Adam(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size);
  void step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) override;
  /// By PyTorch's names.
  std::vector<OptimizerState> state() override { return {{".exp_avg", mean_}, {".exp_avg_sq", square_}}; }

 private:
  std::vector<ParameterRange> ranges_;
  OptimizerOptions options_;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace trainyard
