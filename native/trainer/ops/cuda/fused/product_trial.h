// The product on which a tiling is checked, and what its kernel made of it: shared by the checks of
// forward and backward kernels.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/ops/cuda/fused/trial_numbers.h"
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// The product on which a tiling is checked, and for how many processors it is cut: two tiles of
/// columns, and rows for blocks that take several tiles each. The last tile is not full.
struct PointwiseTrial {
  PointwiseShape shape;
  unsigned processors;

  static PointwiseTrial of(const PointwiseTiling& tiling, bool fp16 = false) {
    constexpr unsigned kDepth = 64;   // of a stage: pixels go through shared memory by so many channels
    constexpr unsigned kStages = 12;  // as many as any tiling has, which a block uses again and again
    constexpr unsigned kAcross = 2;
    constexpr unsigned kSteps = 2;
    const unsigned tiles = (kStages * kDepth + tiling.inner - 1) / tiling.inner + 2;
    const unsigned rest = tiling.rows / 2 - 5;
    return {{(kSteps * tiles - 1) * tiling.rows + rest, kAcross * tiling.columns, tiling.inner, fp16},
            kAcross * kSteps};
  }
  size_t numbers() const { return size_t{shape.rows} * shape.columns; }
  /// Numbers of a partial sum at most.
  size_t each(const PointwiseTiling& tiling) const {
    const size_t steps = tiling.steps(shape, processors);
    return (tiling.tiles(shape) + steps - 1) / steps * (tiling.rows / tiling.partials);
  }
};

/// What a kernel made: all bits are set before, so they are no numbers.
template <class T>
struct Made {
  std::vector<T> d;         ///< [rows, columns], and so many rows behind it as a tile has
  std::vector<float> sums;  ///< [kinds, sums_rows, columns], and a row behind them

  Made(const PointwiseTiling& tiling, const PointwiseTrial& trial, size_t kinds)
      : sums((kinds * tiling.sums_rows(trial.shape, trial.processors) + 1) * trial.shape.columns,
             float_of_bits(0xFFFFFFFFU)) {
    T poison;
    poison.bits = 0xFFFF;
    d.assign(trial.numbers() + size_t{tiling.rows} * trial.shape.columns, poison);
  }
  /// Whether the rows behind d and the row behind the sums are as they were.
  bool is_whole(const PointwiseTrial& trial) const {
    const auto behind = sums.end() - static_cast<std::ptrdiff_t>(trial.shape.columns);
    return std::all_of(d.begin() + static_cast<std::ptrdiff_t>(trial.numbers()), d.end(),
                       [](T number) { return number.bits == 0xFFFF; }) &&
           std::all_of(behind, sums.end(), [](float number) { return float_bits(number) == 0xFFFFFFFFU; });
  }
};

/// Both factors of a product, here and in double.
template <class T>
struct Factors {
  std::vector<T> a, b;
  std::vector<double> pixels, weights;

  explicit Factors(const PointwiseShape& shape)
      : a(trial_numbers<T>(size_t{shape.rows} * shape.inner, 1)),
        b(trial_numbers<T>(size_t{shape.columns} * shape.inner, 2)),
        pixels(widened(a)),
        weights(widened(b)) {}

  /// A number of the product, in four sums that do not wait for one another.
  double product(const PointwiseShape& shape, size_t row, size_t column) const {
    const double* from = pixels.data() + row * shape.inner;
    const double* by = weights.data() + column * shape.inner;
    double sums[4] = {};
    for (size_t k = 0; k < shape.inner; k += 4) {
      for (size_t i = 0; i < 4; ++i) sums[i] += from[k + i] * by[k + i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
};

/// "" where is_right(row, column) gives "" for every row in every 32nd column, other columns in each
/// row.
template <class IsRight>
std::string check_sampled(const PointwiseShape& shape, const IsRight& is_right) {
  constexpr size_t kEvery = 32;
  for (size_t r = 0; r < shape.rows; ++r) {
    // 11 and 32 have no common factor: 32 rows have all columns.
    for (size_t c = r * 11 % kEvery; c < shape.columns; c += kEvery) {
      std::string wrong = is_right(r, c);
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

inline std::string place_of(size_t row, size_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

}  // namespace trainyard::cuda
