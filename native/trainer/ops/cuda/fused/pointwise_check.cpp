#include "trainer/ops/cuda/fused/pointwise_check.h"

#include <algorithm>
#include <vector>

#include "trainer/ops/cuda/fused/trial_numbers.h"

namespace trainyard::cuda {

namespace {

constexpr unsigned kDepth = 64;   ///< of a stage: pixels go through shared memory by so many channels
constexpr unsigned kStages = 12;  ///< as many as any tiling has, which a block uses again and again
constexpr unsigned kEvery = 32;   ///< columns between two of a row that are computed on the host

/// What the tiling made of two factors.
struct Made {
  std::vector<BFloat16> d;  ///< and so many rows behind it as a tile has
  std::vector<float> sums;  ///< and as much behind them as a row
};

/// All bits set: no number.
Made poisoned(const PointwiseTiling& tiling, const PointwiseTrial& trial) {
  Made made;
  BFloat16 poison;
  poison.bits = 0xFFFF;
  made.d.assign((size_t{trial.shape.rows} + tiling.rows) * trial.shape.columns, poison);
  const size_t rows = 2 * size_t{tiling.sums_rows(trial.shape, trial.processors)} + 1;
  made.sums.assign(rows * trial.shape.columns, float_of_bits(0xFFFFFFFFU));
  return made;
}

Made make(const Device& device, const PointwiseTiling& tiling, const PointwiseTrial& trial,
          const std::vector<BFloat16>& a, const std::vector<BFloat16>& b) {
  Made made = poisoned(tiling, trial);
  const auto at_a = device.put(a);
  const auto at_b = device.put(b);
  const auto at_d = device.put(made.d);
  const auto at_sums = device.put(made.sums);
  multiply_pointwise(device.launcher, tiling, trial.shape, trial.processors, at_a->data(), at_b->data(), at_d->data(),
                     reinterpret_cast<float*>(at_sums->data()));
  device.memory->to_host(made.d.data(), at_d->data(), made.d.size() * sizeof(BFloat16));
  device.memory->to_host(made.sums.data(), at_sums->data(), made.sums.size() * sizeof(float));
  return made;
}

/// A sum of products, in four parts that do not wait for one another. count: a multiple of four.
double product(const double* a, const double* b, size_t count) {
  double sums[4] = {};
  for (size_t k = 0; k < count; k += 4) {
    for (size_t i = 0; i < 4; ++i) sums[i] += a[k + i] * b[k + i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

std::string check_product(const PointwiseShape& shape, const std::vector<BFloat16>& a, const std::vector<BFloat16>& b,
                          const std::vector<BFloat16>& d) {
  const size_t inner = shape.inner;
  const std::vector<double> rows = widened(a);
  const std::vector<double> weights = widened(b);
  const double error = product_error(inner);
  for (size_t r = 0; r < shape.rows; ++r) {
    // 11 and 32 have no common factor: 32 rows have all columns.
    for (size_t c = r * 11 % kEvery; c < shape.columns; c += kEvery) {
      const double exact = product(rows.data() + r * inner, weights.data() + c * inner, inner);
      const BFloat16 stored = d[r * shape.columns + c];
      if (is_near(stored, exact, error)) continue;
      return differs("row " + std::to_string(r) + ", column " + std::to_string(c), static_cast<float>(stored), exact);
    }
  }
  return "";
}

/// Whether the rows behind d and the row behind the sums are as they were.
bool is_whole(const Made& made, size_t numbers, size_t sums) {
  return std::all_of(made.d.begin() + static_cast<std::ptrdiff_t>(numbers), made.d.end(),
                     [](BFloat16 number) { return number.bits == 0xFFFF; }) &&
         std::all_of(made.sums.begin() + static_cast<std::ptrdiff_t>(sums), made.sums.end(),
                     [](float number) { return float_bits(number) == 0xFFFFFFFFU; });
}

}  // namespace

PointwiseTrial PointwiseTrial::of(const PointwiseTiling& tiling) {
  constexpr unsigned kAcross = 2;
  constexpr unsigned kSteps = 2;
  // A block's tiles use each stage more than once.
  const unsigned tiles = (kStages * kDepth + tiling.inner - 1) / tiling.inner + 2;
  const unsigned rest = tiling.rows / 2 - 5;
  return {{(kSteps * tiles - 1) * tiling.rows + rest, kAcross * tiling.columns, tiling.inner}, kAcross * kSteps};
}

std::string check_pointwise(const Device& device, const PointwiseTiling& tiling) {
  const PointwiseTrial trial = PointwiseTrial::of(tiling);
  const PointwiseShape& shape = trial.shape;
  const std::vector<BFloat16> a = trial_numbers(size_t{shape.rows} * shape.inner, 1);
  const std::vector<BFloat16> b = trial_numbers(size_t{shape.columns} * shape.inner, 2);
  const Made made = make(device, tiling, trial, a, b);
  const size_t sums_rows = tiling.sums_rows(shape, trial.processors);
  if (!is_whole(made, size_t{shape.rows} * shape.columns, 2 * sums_rows * shape.columns)) {
    return "it writes behind the end of its results";
  }
  std::string wrong = check_product(shape, a, b, made.d);
  if (!wrong.empty()) return wrong;
  const size_t steps = tiling.steps(shape, trial.processors);
  const size_t each = (tiling.tiles(shape) + steps - 1) / steps * (tiling.rows / tiling.partials);
  return check_column_sums(ColumnTotals::of(made.d, shape.rows, shape.columns), made.sums, sums_rows, each);
}

}  // namespace trainyard::cuda
