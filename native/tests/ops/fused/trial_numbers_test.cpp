// How near a kernel's results have to be.
#include "trainer/ops/cuda/fused/trial_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace trainyard {
namespace {

using cuda::ColumnTotals;
using cuda::is_near;

BFloat16 stored(double value) { return static_cast<BFloat16>(static_cast<float>(value)); }

template <class T>
void expect_either_sign(size_t different) {
  const auto numbers = cuda::trial_numbers<T>(10'000, 1);
  std::set<uint16_t> seen;
  int negative = 0;
  for (const T number : numbers) {
    const auto value = static_cast<float>(number);
    ASSERT_GE(std::abs(value), 0.5F);
    ASSERT_LT(std::abs(value), 1.0F);
    negative += value < 0 ? 1 : 0;
    seen.insert(number.bits);
  }
  EXPECT_GT(seen.size(), different);
  EXPECT_NEAR(negative, 5'000, 250);
  EXPECT_EQ(cuda::widened(numbers)[7], double{static_cast<float>(numbers[7])});
  EXPECT_NE(cuda::widened(cuda::trial_numbers<T>(10'000, 2)), cuda::widened(numbers));
}

TEST(TrialNumbers, AreOfEitherSignBetweenAHalfAndOne) {
  expect_either_sign<BFloat16>(255);
  expect_either_sign<Float16>(1'800);
}

TEST(TrialNumbers, AStoredNumberIsNearWithinAStep) {
  // From 1 to 2 a step is 1/128.
  EXPECT_TRUE(is_near(stored(1.5), 1.5, 0));
  EXPECT_TRUE(is_near(stored(1.5 + 0x1p-7), 1.5, 0));
  EXPECT_FALSE(is_near(stored(1.5 + 0x1p-6), 1.5, 0));
  EXPECT_FALSE(is_near(stored(-1.5), 1.5, 0));
  EXPECT_TRUE(is_near(stored(1.5 + 0x1p-6), 1.5, 0x1p-7));
  EXPECT_TRUE(is_near(stored(0), 0, 0));
  EXPECT_FALSE(is_near(stored(0.01), 0, 0.001));
  EXPECT_FALSE(is_near(stored(std::nan("")), 1.5, 100));
  EXPECT_FALSE(is_near(stored(std::numeric_limits<double>::infinity()), 1.5, 100));
  // In fp16 a step is 1/1024.
  EXPECT_TRUE(is_near(static_cast<Float16>(1.5F + 0x1p-10F), 1.5, 0));
  EXPECT_FALSE(is_near(static_cast<Float16>(1.5F + 0x1p-9F), 1.5, 0));
}

TEST(TrialNumbers, AnErrorGrowsWithTheProductsOfASum) {
  // A sum of 512 numbers between 0.5 and 1 of either sign is about 13, where a step is 1/16.
  EXPECT_LT(cuda::product_error(512), 0x1p-4);
  EXPECT_GT(cuda::product_error(512), cuda::product_error(64));
}

/// Three partial sums of a matrix of 48 rows.
struct Partials {
  static constexpr size_t kRows = 48, kColumns = 5, kParts = 3;
  std::vector<BFloat16> matrix = cuda::trial_numbers<BFloat16>(kRows * kColumns, 3);
  std::vector<float> partial = std::vector<float>(2 * kParts * kColumns, 0.0F);

  Partials() {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t c = 0; c < kColumns; ++c) {
        const auto value = static_cast<float>(matrix[r * kColumns + c]);
        partial[r % kParts * kColumns + c] += value;
        partial[(kParts + r % kParts) * kColumns + c] += value * value;
      }
    }
  }
  std::string check() const {
    ColumnTotals totals(kColumns);
    ColumnTotals squares(kColumns);
    for (size_t i = 0; i < matrix.size(); ++i) {
      const double value = double{static_cast<float>(matrix[i])};
      totals.add(i % kColumns, value);
      squares.add(i % kColumns, value * value);
    }
    const std::string wrong = cuda::check_column_sums("the sum", totals, partial.data(), kParts, kRows / kParts);
    if (!wrong.empty()) return wrong;
    return cuda::check_column_sums("the sum of squares", squares, partial.data() + kParts * kColumns, kParts,
                                   kRows / kParts);
  }
};

TEST(TrialNumbers, SumsAreThoseOfTheColumns) { EXPECT_EQ(Partials().check(), ""); }

TEST(TrialNumbers, ASumWithoutOneOfItsNumbersIsFound) {
  for (size_t c = 0; c < Partials::kColumns; ++c) {
    Partials sums;
    sums.partial[c] -= static_cast<float>(sums.matrix[c]);
    EXPECT_NE(sums.check().find("the sum of column " + std::to_string(c) + " is "), std::string::npos) << sums.check();
  }
}

TEST(TrialNumbers, SoIsASquareTooMuch) {
  Partials sums;
  sums.partial[(Partials::kParts + 1) * Partials::kColumns + 2] += 0.5F;
  EXPECT_NE(sums.check().find("the sum of squares of column 2 is "), std::string::npos) << sums.check();
}

TEST(TrialNumbers, WhatIsNoNumberIsFound) {
  Partials sums;
  sums.partial[4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(sums.check(), "");
}

}  // namespace
}  // namespace trainyard
