#include <algorithm>
#include <array>
#include <cmath>

#include "trainer/ops/cuda/fused/pointwise_check.h"
#include "trainer/ops/cuda/fused/product_trial.h"

namespace trainyard::cuda {

namespace {

/// Which end is checked. merges: of `inner` alone, with a PointwiseMerge.
struct Asked {
  GradientEndKind kind;
  bool merges = false;
};

/// The end of a gradient on random numbers, on the host.
template <class T>
struct Ends {
  Asked asked;
  size_t columns;
  std::vector<T> more;                     // [rows, columns]
  std::array<std::vector<T>, 2> x;         // [rows, columns]
  std::vector<uint8_t> passed;             // [rows, columns / 8]
  std::array<std::vector<float>, 2> mean;  // [columns], as the next
  std::vector<float> scale, beta, bias;

  Ends(Asked asked, const PointwiseTrial& trial)
      : asked(asked),
        columns(trial.shape.columns),
        more(trial_numbers<T>(trial.numbers(), 3)),
        x{trial_numbers<T>(trial.numbers(), 4), trial_numbers<T>(trial.numbers(), 5)},
        passed(trial.numbers() / 8),
        mean{of_channels(6), of_channels(7)},
        scale(of_channels(8)),
        beta(of_channels(9)),
        bias(of_channels(10)) {
    // The high bits of multiples of 2^32 / golden ratio (Knuth, "The Art of Computer Programming",
    // volume 3, section 6.4).
    for (size_t i = 0; i < passed.size(); ++i) {
      passed[i] = static_cast<uint8_t>(static_cast<uint32_t>(i) * 2'654'435'769U >> 24U);
    }
  }

  bool adds() const { return asked.kind != GradientEndKind::inner; }
  size_t norms() const { return norms_of(asked.kind); }
  /// What is added to the product.
  double added(size_t at) const {
    if (asked.merges) return double{bias[at % columns]};
    return adds() ? double{static_cast<float>(more[at])} : 0;
  }
  float centred(size_t norm, size_t at) const {
    return static_cast<float>(x.at(norm)[at]) - mean.at(norm)[at % columns];
  }
  bool passes(size_t at) const {
    if (adds()) return (passed[at / 8] >> at % 8 & 1) != 0;
    return std::fma(centred(0, at), scale[at % columns], beta[at % columns]) > 0.0F;
  }

 private:
  std::vector<float> of_channels(uint32_t seed) const {
    std::vector<float> values;
    for (const double value : widened(trial_numbers<BFloat16>(columns, seed))) {
      values.push_back(static_cast<float>(value));
    }
    return values;
  }
};

/// Columns [from, to) of a matrix with `columns` of them.
template <class T>
std::vector<T> columns_of(const std::vector<T>& matrix, size_t columns, size_t from, size_t to) {
  std::vector<T> part;
  part.reserve(matrix.size() / columns * (to - from));
  for (size_t row = 0; row < matrix.size(); row += columns) {
    part.insert(part.end(), matrix.begin() + static_cast<std::ptrdiff_t>(row + from),
                matrix.begin() + static_cast<std::ptrdiff_t>(row + to));
  }
  return part;
}

template <class T>
std::string check(const Device& device, const PointwiseTiling& tiling, Asked asked, const PointwiseTrial& trial) {
  const PointwiseShape& shape = trial.shape;
  const Factors<T> factors(shape);
  const Ends<T> ends(asked, trial);
  Made<T> made(tiling, trial, 1 + ends.norms());
  // g lies where `more` lies, as it does in a network.
  if (ends.adds()) std::ranges::copy(ends.more, made.d.begin());
  const size_t own_inner = asked.merges ? shape.inner - shape.columns : shape.inner;
  const auto a = device.put(columns_of(factors.a, shape.inner, 0, own_inner));
  const auto merged = asked.merges ? device.put(columns_of(factors.a, shape.inner, own_inner, shape.inner)) : nullptr;
  const auto b = device.put(factors.b);
  const auto g = device.put(made.d);
  const auto sums = device.put(made.sums);
  const std::array x{device.put(ends.x[0]), device.put(ends.x[1])};
  const std::array mean{device.put(ends.mean[0]), device.put(ends.mean[1])};
  const auto passed = device.put(ends.passed);
  const auto scale = device.put(ends.scale);
  const auto beta = device.put(ends.beta);
  const auto bias = device.put(ends.bias);
  const auto floats = [](const auto& memory) { return reinterpret_cast<float*>(memory->data()); };
  PointwiseEnd end{.kind = asked.kind,
                   .more = ends.adds() ? g->data() : nullptr,
                   .passed = passed->data(),
                   .x = {},
                   .mean = {},
                   .scale = floats(scale),
                   .beta = floats(beta)};
  for (size_t norm = 0; norm < ends.norms(); ++norm) {
    end.x[norm] = x.at(norm)->data();
    end.mean[norm] = floats(mean.at(norm));
  }
  if (asked.merges) end.merge = {merged->data(), floats(bias)};
  multiply_pointwise_gradient(device.launcher, tiling, shape, trial.processors, a->data(), b->data(), end, g->data(),
                              floats(sums));
  device.memory->to_host(made.d.data(), g->data(), made.d.size() * sizeof(T));
  device.memory->to_host(made.sums.data(), sums->data(), made.sums.size() * sizeof(float));
  if (!made.is_whole(trial)) return "it writes behind the end of its results";

  std::string wrong = check_sampled(shape, [&](size_t r, size_t c) -> std::string {
    const size_t at = r * shape.columns + c;
    double exact = 0;
    double error = 0;
    if (ends.passes(at)) {
      exact = factors.product(shape, r, c) + ends.added(at);
      error = product_error(shape.inner + 1);  // what is added counts as a product
    }
    const T stored = made.d[at];
    if (is_near(stored, exact, error)) return "";
    return differs(place_of(r, c), static_cast<float>(stored), exact);
  });
  const size_t rows = tiling.sums_rows(shape, trial.processors);
  // The differences to the mean and the products are rounded too.
  const size_t each = trial.each(tiling) + 2;
  for (size_t sum = 0; wrong.empty() && sum <= ends.norms(); ++sum) {
    ColumnTotals totals(shape.columns);
    for (size_t i = 0; i < trial.numbers(); ++i) {
      const double value = double{static_cast<float>(made.d[i])};
      totals.add(i % shape.columns, sum == 0 ? value : value * double{ends.centred(sum - 1, i)});
    }
    const std::string what = sum == 0 ? "the sum" : "the sum of products with input " + std::to_string(sum);
    wrong = check_column_sums(what, totals, made.sums.data() + sum * rows * shape.columns, rows, each);
  }
  return wrong;
}

std::string check(const Device& device, const PointwiseTiling& tiling, Asked asked, bool fp16) {
  const PointwiseTrial trial = PointwiseTrial::of(tiling, fp16);
  return fp16 ? check<Float16>(device, tiling, asked, trial) : check<BFloat16>(device, tiling, asked, trial);
}

}  // namespace

std::string check_gradient(const Device& device, const PointwiseTiling& tiling, GradientEndKind kind, bool fp16) {
  return check(device, tiling, {kind}, fp16);
}

std::string check_merged_gradient(const Device& device, const PointwiseTiling& tiling, bool fp16) {
  return check(device, tiling, {GradientEndKind::inner, true}, fp16);
}

}  // namespace trainyard::cuda
