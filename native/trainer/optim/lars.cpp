#include "trainer/optim/lars.h"

#include <cmath>
#include <utility>

#include "trainer/base/parallel.h"
#include "trainer/optim/lars_math.h"
#include "trainer/optim/norm.h"

namespace trainyard {

Lars::Lars(const OptimizerOptions& options, std::vector<ParameterRange> ranges, size_t arena_size)
    : ranges_(std::move(ranges)), options_(options), velocity_(arena_size) {}

void Lars::step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t /*number*/) {
  velocity_.populate();
  const auto momentum = static_cast<float>(options_.momentum);
  for (const ParameterRange& range : ranges_) {
    const double decay = range.decay ? options_.weight_decay : 0.0;
    double rate = lr;
    if (range.adapt) {
      rate *= lars_ratio(std::sqrt(squared_length(weights.subspan(range.offset, range.size))),
                         std::sqrt(squared_length(gradients.subspan(range.offset, range.size))), options_.trust, decay);
    }
    float* w = weights.data() + range.offset;
    const float* g = gradients.data() + range.offset;
    float* v = velocity_.data() + range.offset;
    parallel_for(range.size, 16384,
                 [=, rate = static_cast<float>(rate), decay = static_cast<float>(decay)](size_t begin, size_t end) {
                   for (size_t i = begin; i < end; ++i) lars_update(w[i], v[i], g[i], rate, momentum, decay);
                 });
  }
}

}  // namespace trainyard
