#include "trainer/ops/cuda/fused/pointwise_check.h"

#include "trainer/ops/cuda/fused/product_trial.h"

namespace trainyard::cuda {

namespace {

template <class T>
std::string check(const Device& device, const PointwiseTiling& tiling, const PointwiseTrial& trial) {
  const PointwiseShape& shape = trial.shape;
  const Factors<T> factors(shape);
  Made<T> made(tiling, trial, 2);
  const auto a = device.put(factors.a);
  const auto b = device.put(factors.b);
  const auto d = device.put(made.d);
  const auto sums = device.put(made.sums);
  multiply_pointwise(device.launcher, tiling, shape, trial.processors, a->data(), b->data(), d->data(),
                     reinterpret_cast<float*>(sums->data()));
  device.memory->to_host(made.d.data(), d->data(), made.d.size() * sizeof(T));
  device.memory->to_host(made.sums.data(), sums->data(), made.sums.size() * sizeof(float));
  if (!made.is_whole(trial)) return "it writes behind the end of its results";

  std::string wrong = check_sampled(shape, [&](size_t r, size_t c) -> std::string {
    const double exact = factors.product(shape, r, c);
    const T stored = made.d[r * shape.columns + c];
    if (is_near(stored, exact, product_error(shape.inner))) return "";
    return differs(place_of(r, c), static_cast<float>(stored), exact);
  });
  if (!wrong.empty()) return wrong;

  ColumnTotals totals(shape.columns);
  ColumnTotals squares(shape.columns);
  for (size_t i = 0; i < trial.numbers(); ++i) {
    const double value = double{static_cast<float>(made.d[i])};
    totals.add(i % shape.columns, value);
    squares.add(i % shape.columns, value * value);
  }
  const size_t rows = tiling.sums_rows(shape, trial.processors);
  const size_t each = trial.each(tiling);
  wrong = check_column_sums("the sum", totals, made.sums.data(), rows, each);
  if (!wrong.empty()) return wrong;
  return check_column_sums("the sum of squares", squares, made.sums.data() + rows * shape.columns, rows, each);
}

}  // namespace

std::string check_pointwise(const Device& device, const PointwiseTiling& tiling, bool fp16) {
  const PointwiseTrial trial = PointwiseTrial::of(tiling, fp16);
  return fp16 ? check<Float16>(device, tiling, trial) : check<BFloat16>(device, tiling, trial);
}

}  // namespace trainyard::cuda
