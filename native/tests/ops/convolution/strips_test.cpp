// What the CPU's kernels compute with: rounding to bf16 by our own arithmetic and by the
// processor's instruction.
#include "trainer/ops/cpu/strips.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/cpu_features.h"
#include "trainer/base/random.h"

namespace trainyard::cpu {
namespace {

template <int width, class T>
TRAINYARD_INLINE void there_and_back(const float* from, T* rounded, float* back, size_t count) {
  using L = Lanes<width>;
  for (size_t i = 0; i < count; i += width) {
    // Copies, since `store` takes an aligned vector.
    const typename L::Float number = L::load(from + i).value;
    L::store(rounded + i, number);
    const typename L::Float again = L::load(rounded + i).value;
    L::store(back + i, again);
  }
}

template <int width, class T>
std::vector<float> rounded(const std::vector<float>& numbers) {
  std::vector<T> half(numbers.size());
  std::vector<float> back(numbers.size());
  Compiled<T, &there_and_back<width, T>>::run(numbers.data(), half.data(), back.data(), numbers.size());
  return back;
}

/// Of all sizes that a whole mantissa has, and what lies in the middle between two neighbours.
/// Whole vectors of 16.
std::vector<float> numbers() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> made{0.0F, -0.0F, 1.0F, kInfinity, -kInfinity, 3.4e38F, 1.00390625F, 1.01171875F, -1.00390625F};
  Random random({5});
  while (made.size() % 16 != 0 || made.size() < 4096) {
    made.push_back(
        std::ldexp(static_cast<float>(random.uniform(-2.0, 2.0)), static_cast<int>(random.below(200)) - 100));
  }
  return made;
}

template <int width>
void expect_as_bfloat16() {
  const std::vector<float> all = numbers();
  const std::vector<float> ours = rounded<width, BFloat16>(all);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(ours[i], static_cast<float>(BFloat16(all[i]))) << all[i];
  EXPECT_TRUE(std::isnan((rounded<width, BFloat16>(std::vector<float>(16, std::nanf(""))).front())));
}

template <int width>
void expect_as_ours() {
  const std::vector<float> all = numbers();
  EXPECT_EQ((rounded<width, MachineBFloat16>(all)), (rounded<width, BFloat16>(all)));
  EXPECT_TRUE(std::isnan((rounded<width, MachineBFloat16>(std::vector<float>(16, std::nanf(""))).front())));
}

TEST(Lanes, round_as_bfloat16_does) {
  expect_as_bfloat16<16>();
  expect_as_bfloat16<8>();
  expect_as_bfloat16<1>();
}

TEST(Lanes, the_processor_rounds_alike) {
  if (!cpu_features().avx512_bf16) GTEST_SKIP() << "this processor has no AVX512-BF16";
  expect_as_ours<16>();
  expect_as_ours<8>();
  expect_as_ours<1>();
}

}  // namespace
}  // namespace trainyard::cpu
