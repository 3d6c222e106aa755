#include "trainer/ops/cuda/fused/trial_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace trainyard::cuda {

std::vector<BFloat16> trial_numbers(size_t count, uint32_t seed) {
  constexpr uint32_t kHalf = 0x3F00U;  // 0.5
  std::mt19937 random(seed);
  std::vector<BFloat16> numbers(count);
  for (BFloat16& number : numbers) {
    const auto bits = static_cast<uint32_t>(random());
    number.bits = static_cast<uint16_t>(kHalf | (bits >> 31U << 15U) | (bits & 0x7FU));
  }
  return numbers;
}

std::vector<double> widened(const std::vector<BFloat16>& numbers) {
  std::vector<double> wide(numbers.size());
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = double{static_cast<float>(numbers[i])};
  return wide;
}

double product_error(size_t count) {
  const auto n = static_cast<double>(count);
  return n * n * 0x1p-23;
}

bool is_near(BFloat16 stored, double exact, double error) {
  const double size = std::max(std::abs(exact), double{std::numeric_limits<float>::min()});
  const double step = std::ldexp(1.0, std::ilogb(size) - 7);
  // A comparison with what is not a number is false.
  return std::abs(double{static_cast<float>(stored)} - exact) <= step + error;
}

ColumnTotals ColumnTotals::of(const std::vector<BFloat16>& matrix, size_t rows, size_t columns) {
  ColumnTotals totals{std::vector<double>(columns), std::vector<double>(columns), std::vector<double>(columns)};
  for (size_t r = 0; r < rows; ++r) {
    const BFloat16* row = matrix.data() + r * columns;
    for (size_t c = 0; c < columns; ++c) {
      const double value = double{static_cast<float>(row[c])};
      totals.sums[c] += value;
      totals.sizes[c] += std::abs(value);
      totals.squares[c] += value * value;
    }
  }
  return totals;
}

std::string check_column_sums(const ColumnTotals& totals, const std::vector<float>& partial, size_t partial_rows,
                              size_t each) {
  const size_t columns = totals.sums.size();
  std::vector<double> found(2 * columns);
  for (size_t i = 0; i < 2 * partial_rows; ++i) {
    double* to = found.data() + (i < partial_rows ? 0 : columns);
    for (size_t c = 0; c < columns; ++c) to[c] += double{partial[i * columns + c]};
  }
  const double share = static_cast<double>(each) * 0x1p-24;
  for (size_t c = 0; c < columns; ++c) {
    const std::string column = " of column " + std::to_string(c);
    const double square = found[columns + c];
    if (!(std::abs(found[c] - totals.sums[c]) <= share * totals.sizes[c])) {
      return differs("the sum" + column, found[c], totals.sums[c]);
    }
    if (!(std::abs(square - totals.squares[c]) <= share * totals.squares[c])) {
      return differs("the sum of squares" + column, square, totals.squares[c]);
    }
  }
  return "";
}

std::string differs(const std::string& place, double found, double wanted) {
  std::array<char, 80> numbers{};
  std::snprintf(numbers.data(), numbers.size(), " is %.9g instead of %.9g", found, wanted);
  return place + numbers.data();
}

}  // namespace trainyard::cuda
