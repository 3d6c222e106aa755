#include "trainer/base/parallel.h"

#include <gmock/gmock.h>

#include <numeric>
#include <stdexcept>
#include <vector>

namespace trainyard {
namespace {

TEST(Parallel, every_index_once) {
  set_threads(3);
  std::vector<int> seen(1001, 0);
  parallel_for(seen.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) ++seen[i];
  });
  EXPECT_THAT(seen, ::testing::Each(1));
}

TEST(Parallel, an_exception_reaches_the_caller) {
  set_threads(2);
  const auto loop = [] { parallel_for(10, 1, [](size_t, size_t) { throw std::runtime_error("inside"); }); };
  EXPECT_THROW(loop(), std::runtime_error);
}

}  // namespace
}  // namespace trainyard
