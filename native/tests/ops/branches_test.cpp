// What Inception's branches need: average pooling, concatenation, and dropout.
#include <cmath>

#include "tests/ops/reference.h"

namespace trainyard::test {
namespace {

struct PoolCase {
  Shape in;
  int kernel, stride, pad;
};

class Branches : public ContractTest {
 protected:
  void expect_average(const TensorDesc& in, const PoolCase& test);
};
TRAINYARD_FOR_EVERY_BACKEND(Branches);

/// The sum over kernel * kernel, zeros around the image counted.
Values avg_pool(const Values& x, const PoolCase& test) {
  const auto size = [&](int extent) { return (extent + 2 * test.pad - test.kernel) / test.stride + 1; };
  Values y(Shape{test.in.n, test.in.c, size(test.in.h), size(test.in.w)});
  for (int n = 0; n < y.shape.n; ++n) {
    for (int c = 0; c < y.shape.c; ++c) {
      for (int i = 0; i < y.shape.h * y.shape.w * test.kernel * test.kernel; ++i) {
        const int out = i / (test.kernel * test.kernel);
        const int at = i % (test.kernel * test.kernel);
        const int h = out / y.shape.w * test.stride - test.pad + at / test.kernel;
        const int w = out % y.shape.w * test.stride - test.pad + at % test.kernel;
        if (h < 0 || w < 0 || h >= test.in.h || w >= test.in.w) continue;
        y(n, c, out / y.shape.w, out % y.shape.w) += x(n, c, h, w) / (test.kernel * test.kernel);
      }
    }
  }
  return y;
}

void Branches::expect_average(const TensorDesc& in, const PoolCase& test) {
  const std::string name = to_string(test.in) + " " + layout_name(in.layout) + " " + type_name(in.dtype);
  const Values x = as_stored(random_values(test.in, 31), in.dtype);
  const auto op = bench_.backend().make_avg_pool({in, test.kernel, test.stride, test.pad, true});
  const Values want = avg_pool(x, test);
  ASSERT_EQ(op->output().shape, want.shape) << name;
  ASSERT_EQ(op->output().dtype, in.dtype) << name;
  void* y = bench_.buffer(op->output());
  op->forward(bench_.put(in, x), y, bench_.scratch(op->scratch_bytes()));
  // As many roundings as the window has elements, at most, and one as the mean is stored.
  const double sums = test.kernel * test.kernel * kRounding;
  const double tolerance = sums + storing_error(in.dtype);
  expect_close(bench_.take(op->output(), y).at, want.at, tolerance, name + ", y");
  const auto inference = bench_.backend().make_avg_pool({in, test.kernel, test.stride, test.pad, false});
  void* again = bench_.buffer(op->output());
  inference->forward(bench_.put(in, x), again, bench_.scratch(inference->scratch_bytes()));
  expect_close(bench_.take(op->output(), again).at, want.at, tolerance, name + ", y of inference");

  const Values dy = as_stored(random_values(want.shape, 32), in.dtype);
  void* dx = bench_.buffer(in);
  op->backward(bench_.put(op->output(), dy), dx, bench_.scratch(op->scratch_bytes()));
  const std::vector<double> got = bench_.take(in, dx).at;
  // Linear, so a step of 1 in one element is the whole derivative.
  for (size_t i = 0; i < x.at.size(); i += in.dtype == DType::f32 ? 7 : 61) {
    Values one(test.in);
    one.at[i] = 1;
    const double slope = weighted_sum(dy, avg_pool(one, test));
    EXPECT_NEAR(got[i], slope, 4 * sums + storing_error(in.dtype) * std::abs(slope)) << name << " " << i;
  }
}

TEST_P(Branches, AveragePoolIsTheMeanWithTheZerosAround) {
  for (const PoolCase& test : {PoolCase{{2, 16, 8, 8}, 3, 1, 1},
                               {{1, 20, 7, 9}, 3, 1, 1},
                               {{2, 24, 17, 17}, 5, 3, 0},
                               {{3, 5, 6, 7}, 2, 2, 0}}) {
    for (const DType dtype : stored_types(bench_.backend())) {
      for (const Layout layout : backend_case().layouts) expect_average({test.in, layout, dtype}, test);
    }
  }
}

TEST_P(Branches, ConcatenationPutsChannelsBehindOneAnother) {
  const std::vector<std::vector<int>> cases{{16, 32, 16}, {5, 3}, {24, 8, 40}, {16, 5, 11}, {7}};
  const std::vector<DType> types = stored_types(bench_.backend());
  for (size_t k = 0; k < cases.size() * types.size(); ++k) {
    const std::vector<int>& widths = cases[k / types.size()];
    const DType dtype = types[k % types.size()];
    for (const Layout layout : backend_case().layouts) {
      std::vector<TensorDesc> descs;
      std::vector<Values> values;
      std::vector<const void*> parts;
      std::vector<void*> dparts;
      for (const int width : widths) {
        descs.push_back({{3, width, 4, 5}, layout, dtype});
        values.push_back(as_stored(random_values(descs.back().shape, static_cast<uint64_t>(width)), dtype));
        parts.push_back(bench_.put(descs.back(), values.back()));
        dparts.push_back(bench_.buffer(descs.back()));
      }
      const auto op = bench_.backend().make_concat(descs);
      void* y = bench_.buffer(op->output());
      op->forward(parts, y);
      const Values got = bench_.take(op->output(), y);
      void* dy = bench_.put(op->output(), got);
      op->backward(dy, dparts);
      int first = 0;
      for (size_t i = 0; i < widths.size(); ++i) {
        const std::string name =
            layout_name(layout) + std::string(" ") + type_name(dtype) + " part " + std::to_string(i);
        for (int c = 0; c < widths[i]; ++c) {
          for (int j = 0; j < 60; ++j) {
            ASSERT_EQ(got(j / 20, first + c, j / 5 % 4, j % 5), values[i](j / 20, c, j / 5 % 4, j % 5)) << name;
          }
        }
        EXPECT_EQ(bench_.take(descs[i], dparts[i]).at, values[i].at) << name;
        first += widths[i];
      }
      ASSERT_EQ(op->output().shape, (Shape{3, first, 4, 5}));
      ASSERT_EQ(op->output().dtype, dtype);
      std::vector<void*> nobody(widths.size(), nullptr);
      op->backward(dy, nobody);
    }
  }
}

TEST_P(Branches, DropoutDrawsByImageAndLeavesTheMean) {
  const TensorDesc desc{{6, 500, 1, 1}, Layout::nchw};
  Values ones(desc.shape);
  std::fill(ones.at.begin(), ones.at.end(), 1.0);
  const auto draw = [&](float rate, uint64_t key, uint64_t first, const TensorDesc& of) {
    Values part(of.shape);
    std::fill(part.at.begin(), part.at.end(), 1.0);
    void* x = bench_.put(of, part);
    bench_.backend().make_dropout({of, rate, key})->run(x, x, bench_.number(first));
    return bench_.take(of, x).at;
  };
  for (const float rate : {0.5F, 0.25F, 0.9F}) {
    const std::vector<double> whole = draw(rate, 77, 100, desc);
    double kept = 0;
    for (const double value : whole) {
      EXPECT_TRUE(value == 0 || value == static_cast<double>(1.0F / (1.0F - rate))) << value;
      kept += value != 0 ? 1 : 0;
    }
    // Five standard deviations of a binomial draw.
    const double count = static_cast<double>(whole.size());
    EXPECT_NEAR(kept / count, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / count));
    // Two ranks, or two micro-batches, draw what one does.
    const TensorDesc half{{3, 500, 1, 1}, Layout::nchw};
    std::vector<double> parts = draw(rate, 77, 100, half);
    const std::vector<double> second = draw(rate, 77, 103, half);
    parts.insert(parts.end(), second.begin(), second.end());
    EXPECT_EQ(parts, whole);
    EXPECT_NE(draw(rate, 78, 100, desc), whole);
    EXPECT_NE(std::vector<double>(parts.begin(), parts.begin() + 500),
              std::vector<double>(parts.begin() + 500, parts.begin() + 1000));
  }
}

TEST_P(Branches, DropoutLeavesOutTheSameInEveryType) {
  constexpr float kRate = 0.3F;
  const Shape shape{4, 100, 1, 1};
  std::vector<double> wide;
  for (const DType dtype : stored_types(bench_.backend())) {
    const TensorDesc desc{shape, Layout::nchw, dtype};
    const Values x = as_stored(random_values(shape, 5), dtype);
    void* memory = bench_.put(desc, x);
    bench_.backend().make_dropout({desc, kRate, 9})->run(memory, memory, bench_.number(3));
    const std::vector<double> got = bench_.take(desc, memory).at;
    if (dtype == DType::f32) wide = got;
    for (size_t i = 0; i < got.size(); ++i) {
      const double want = wide[i] == 0 ? 0 : x.at[i] / (1 - double{kRate});
      EXPECT_NEAR(got[i], want, (3 * kRounding + storing_error(dtype)) * std::abs(want)) << type_name(dtype);
    }
  }
}

}  // namespace
}  // namespace trainyard::test
