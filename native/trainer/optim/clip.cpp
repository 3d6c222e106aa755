#include "trainer/optim/clip.h"

#include <cmath>
#include <cstddef>

#include "trainer/base/parallel.h"
#include "trainer/optim/norm.h"

namespace trainyard {

double clip_to_length(std::span<float> gradients, double limit) {
  const double length = std::sqrt(squared_length(gradients));
  cut_to_length(gradients, length, limit);
  return length;
}

void cut_to_length(std::span<float> gradients, double length, double limit) {
  const double factor = limit / (length + 1e-6);
  if (!std::isfinite(length) || factor >= 1) return;
  parallel_for(gradients.size(), 16384,
               [g = gradients.data(), f = static_cast<float>(factor)](size_t begin, size_t end) {
                 for (size_t i = begin; i < end; ++i) g[i] *= f;
               });
}

}  // namespace trainyard
