#include "trainer/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace trainyard {
namespace {

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

// Kolmogorov and Smirnov's distance to the normal distribution stays below its 0.1% point, and
// tails are as heavy as they should be.
TEST(RandomStream, is_normal_to_its_tails) {
  Random random({11});
  constexpr size_t kCount = 400000;
  std::vector<double> values(kCount);
  for (double& value : values) value = random.normal();
  std::ranges::sort(values);
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  double distance = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const double expected = below(values[i]);
    distance = std::max(
        {distance, expected - static_cast<double>(i) / kCount, static_cast<double>(i + 1) / kCount - expected});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(kCount));
  // Beyond 3.654 the method takes another way; 104 of 400,000 are expected there, with a deviation
  // of 10.
  const auto far = std::ranges::count_if(values, [](double x) { return std::abs(x) > 3.6541528853610088; });
  EXPECT_NEAR(static_cast<double>(far), 2 * below(-3.6541528853610088) * kCount, 40);
  EXPECT_LT(values.front(), -4);
  EXPECT_GT(values.back(), 4);
}

TEST(RandomStream, fills_with_the_numbers_it_would_draw_one_by_one) {
  Random one({5, 6});
  Random many({5, 6});
  std::vector<float> values(100000);  // so many meet every way through the method
  many.normals(values, 0.25);
  for (const float value : values) ASSERT_EQ(value, static_cast<float>(one.normal() * 0.25));
  EXPECT_EQ(many.next(), one.next());
}

}  // namespace
}  // namespace trainyard
