// Stochastic gradient descent with momentum and weight decay: see sgd_math.h.
#pragma once
#include "trainer/base/zeroed_floats.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size);
  void step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) override;
  std::vector<OptimizerState> state() override { return {{".momentum", velocity_.span()}}; }

 private:
  std::vector<ParameterRange> ranges_;
  float momentum_;
  float weight_decay_;
  ZeroedFloats velocity_;
};

}  // namespace trainyard
