#include "trainer/ops/cuda/fused/trial_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace trainyard::cuda {

namespace {

/// The bits of 0.5, and how many there are behind the exponent.
template <class T>
struct Bits;
template <>
struct Bits<BFloat16> {
  static constexpr uint32_t kHalf = 0x3F00U;
  static constexpr int kFraction = 7;
};
template <>
struct Bits<Float16> {
  static constexpr uint32_t kHalf = 0x3800U;
  static constexpr int kFraction = 10;
};

}  // namespace

template <class T>
std::vector<T> trial_numbers(size_t count, uint32_t seed) {
  constexpr uint32_t kFraction = (1U << static_cast<unsigned>(Bits<T>::kFraction)) - 1;
  std::mt19937 random(seed);
  std::vector<T> numbers(count);
  for (T& number : numbers) {
    const auto bits = static_cast<uint32_t>(random());
    number.bits = static_cast<uint16_t>(Bits<T>::kHalf | (bits >> 31U << 15U) | (bits & kFraction));
  }
  return numbers;
}

template <class T>
std::vector<double> widened(const std::vector<T>& numbers) {
  std::vector<double> wide(numbers.size());
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = double{static_cast<float>(numbers[i])};
  return wide;
}

double product_error(size_t count) {
  const auto n = static_cast<double>(count);
  return n * n * 0x1p-23;
}

template <class T>
bool is_near(T stored, double exact, double error) {
  const double size = std::max(std::abs(exact), double{std::numeric_limits<float>::min()});
  const double step = std::ldexp(1.0, std::ilogb(size) - Bits<T>::kFraction);
  // A comparison with what is not a number is false.
  return std::abs(double{static_cast<float>(stored)} - exact) <= step + error;
}

std::string check_column_sums(const std::string& what, const ColumnTotals& totals, const float* partial,
                              size_t partial_rows, size_t each) {
  const size_t columns = totals.sums.size();
  std::vector<double> found(columns);
  for (size_t i = 0; i < partial_rows * columns; ++i) found[i % columns] += double{partial[i]};
  const double share = static_cast<double>(each) * 0x1p-24;
  for (size_t c = 0; c < columns; ++c) {
    if (std::abs(found[c] - totals.sums[c]) <= share * totals.sizes[c]) continue;
    return differs(what + " of column " + std::to_string(c), found[c], totals.sums[c]);
  }
  return "";
}

std::string differs(const std::string& place, double found, double wanted) {
  std::array<char, 80> numbers{};
  std::snprintf(numbers.data(), numbers.size(), " is %.9g instead of %.9g", found, wanted);
  return place + numbers.data();
}

template std::vector<BFloat16> trial_numbers(size_t, uint32_t);
template std::vector<Float16> trial_numbers(size_t, uint32_t);
template std::vector<double> widened(const std::vector<BFloat16>&);
template std::vector<double> widened(const std::vector<Float16>&);
template bool is_near(BFloat16, double, double);
template bool is_near(Float16, double, double);

}  // namespace trainyard::cuda
