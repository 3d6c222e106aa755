#include "trainer/base/parallel.h"

#include <gmock/gmock.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "trainer/base/random.h"

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

TEST(RandomStream, depends_on_its_whole_key_only) {
  EXPECT_EQ(Random({1, 2}).next(), Random({1, 2}).next());
  EXPECT_NE(Random({1, 2}).next(), Random({2, 1}).next());
  EXPECT_NE(Random({1, 2}).next(), Random({1, 3}).next());
}

TEST(RandomStream, moments) {
  Random random({7});
  double sum = 0;
  double squares = 0;
  double uniform = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    uniform += random.uniform();
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(uniform / kCount, 0.5, 0.005);
}

}  // namespace
}  // namespace trainyard
