#include "trainer/optim/norm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "trainer/base/parallel.h"

namespace trainyard {
namespace {

constexpr size_t kBlock = 16384;

double squares_of_block(const float* values, size_t count) {
  // Lanes that do not wait for one another, which the compiler may put into a vector.
  std::array<double, 8> lanes{};
  size_t i = 0;
  for (; i + lanes.size() <= count; i += lanes.size()) {
    for (size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += double{values[i + lane]} * values[i + lane];
  }
  for (size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += double{values[i]} * values[i];
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

}  // namespace

double squared_length(std::span<const float> values) {
  std::vector<double> sums((values.size() + kBlock - 1) / kBlock);  // by block
  parallel_for(sums.size(), 1, [&](size_t begin, size_t end) {
    for (size_t block = begin; block < end; ++block) {
      const size_t from = block * kBlock;
      sums[block] = squares_of_block(values.data() + from, std::min(kBlock, values.size() - from));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace trainyard
