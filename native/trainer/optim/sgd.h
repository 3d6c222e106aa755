// Stochastic gradient descent with momentum and weight decay.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace trainyard {

/// A range of the parameter arena and whether weight decay applies to it.
struct ParameterRange {
  size_t offset = 0;
  size_t size = 0;
  bool decay = true;
};

/// v = momentum * v + (g + weight_decay * w);  w = w - lr * v   (PyTorch's SGD, dampening 0, no Nesterov).
class Sgd {
 public:
  Sgd(std::vector<ParameterRange> ranges, size_t arena_size, float momentum, float weight_decay);
  /// weights, gradients: the whole arena, fp32.
  void step(std::span<float> weights, std::span<const float> gradients, float lr);
  /// v, laid out as the weights.
  std::span<float> velocity() { return velocity_; }

 private:
  std::vector<ParameterRange> ranges_;
  float momentum_;
  float weight_decay_;
  std::vector<float> velocity_;
};

}  // namespace trainyard
