#include "trainer/optim/adam.h"

#include <utility>

#include "trainer/base/parallel.h"
#include "trainer/optim/adam_math.h"

namespace trainyard {

Adam::Adam(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size)
    : ranges_(std::move(ranges)), options_(options), mean_(arena_size), square_(arena_size) {}

template <class Rule>
void Adam::update(std::span<float> weights, std::span<const float> gradients, const Rule& rule) {
  for (const ParameterRange& range : ranges_) {
    const float decay = range.decay ? static_cast<float>(options_.weight_decay) : 0.0F;
    float* w = weights.data() + range.offset;
    const float* g = gradients.data() + range.offset;
    float* m = mean_.data() + range.offset;
    float* v = square_.data() + range.offset;
    parallel_for(range.size, 16384, [=](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) rule(w[i], m[i], v[i], g[i], decay);
    });
  }
}

void Adam::step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) {
  mean_.populate();
  square_.populate();
  const AdamStep step = adam_step(lr, number, options_.beta1, options_.beta2, options_.epsilon);
  if (options_.kind == "adamw") {
    update(weights, gradients, [lr, step](float& w, float& m, float& v, float g, float decay) {
      adamw_update(w, m, v, g, decay, lr, step);
    });
  } else {
    update(weights, gradients,
           [step](float& w, float& m, float& v, float g, float decay) { adam_update(w, m, v, g, decay, step); });
  }
}

}  // namespace trainyard
