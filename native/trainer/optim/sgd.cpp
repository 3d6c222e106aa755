#include "trainer/optim/sgd.h"

#include <utility>

#include "trainer/base/parallel.h"
#include "trainer/optim/sgd_math.h"

namespace trainyard {

Sgd::Sgd(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size)
    : ranges_(std::move(ranges)),
      momentum_(static_cast<float>(options.momentum)),
      weight_decay_(static_cast<float>(options.weight_decay)),
      velocity_(arena_size) {}

void Sgd::step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t /*number*/) {
  velocity_.populate();
  for (const ParameterRange& range : ranges_) {
    const float decay = range.decay ? weight_decay_ : 0.0F;
    float* w = weights.data() + range.offset;
    const float* g = gradients.data() + range.offset;
    float* v = velocity_.data() + range.offset;
    const float momentum = momentum_;
    parallel_for(range.size, 16384, [=](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) sgd_update(w[i], v[i], g[i], lr, momentum, decay);
    });
  }
}

}  // namespace trainyard
