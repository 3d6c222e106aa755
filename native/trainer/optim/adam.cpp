#include "trainer/optim/adam.h"

#include <cmath>
#include <utility>

#include "trainer/base/parallel.h"
#include "trainer/optim/adam_math.h"

namespace trainyard {

Adam::Adam(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size)
    : ranges_(std::move(ranges)), options_(options), mean_(arena_size, 0.0F), square_(arena_size, 0.0F) {}

void Adam::step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) {
  const auto t = static_cast<double>(number);
  AdamStep step;
  step.rate = static_cast<float>(double{lr} / (1 - std::pow(options_.beta1, t)));
  step.root_correction = static_cast<float>(std::sqrt(1 - std::pow(options_.beta2, t)));
  step.beta1 = static_cast<float>(options_.beta1);
  step.beta2 = static_cast<float>(options_.beta2);
  step.rest1 = static_cast<float>(1 - options_.beta1);
  step.rest2 = static_cast<float>(1 - options_.beta2);
  step.epsilon = static_cast<float>(options_.epsilon);
  for (const ParameterRange& range : ranges_) {
    const float decay = range.decay ? static_cast<float>(options_.weight_decay) : 0.0F;
    float* w = weights.data() + range.offset;
    const float* g = gradients.data() + range.offset;
    float* m = mean_.data() + range.offset;
    float* v = square_.data() + range.offset;
    parallel_for(range.size, 16384, [=](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) adam_update(w[i], m[i], v[i], g[i], decay, step);
    });
  }
}

}  // namespace trainyard
