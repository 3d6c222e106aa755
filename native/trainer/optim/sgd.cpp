#include "trainer/optim/sgd.h"

#include <utility>

#include "trainer/base/parallel.h"

namespace trainyard {

Sgd::Sgd(std::vector<ParameterRange> ranges, size_t arena_size, float momentum, float weight_decay)
    : ranges_(std::move(ranges)), momentum_(momentum), weight_decay_(weight_decay), velocity_(arena_size, 0.0F) {}

void Sgd::step(std::span<float> weights, std::span<const float> gradients, float lr) {
  for (const ParameterRange& range : ranges_) {
    const float decay = range.decay ? weight_decay_ : 0.0F;
    float* w = weights.data() + range.offset;
    const float* g = gradients.data() + range.offset;
    float* v = velocity_.data() + range.offset;
    const float momentum = momentum_;
    parallel_for(range.size, 16384, [=](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        v[i] = momentum * v[i] + (g[i] + decay * w[i]);
        w[i] -= lr * v[i];
      }
    });
  }
}

}  // namespace trainyard
