// Pooling, the shortcut, the input and the sum.
#include <cmath>
#include <set>

#include "tests/ops/reference.h"
#include "trainer/base/random.h"

namespace trainyard::test {
namespace {

class Pooling : public ContractTest {};
TRAINYARD_FOR_EVERY_BACKEND(Pooling);

struct PoolCase {
  Shape in;
  int kernel, stride, pad;
};
const PoolCase kPools[] = {
    {{2, 16, 8, 8}, 3, 2, 1}, {{3, 20, 7, 9}, 3, 2, 1}, {{1, 5, 6, 6}, 2, 2, 0}, {{2, 24, 5, 5}, 3, 1, 1}};

TEST_P(Pooling, MaxTakesTheFirstOfTheLargest) {
  for (const PoolCase& test : kPools) {
    for (const Layout layout : backend_case().layouts) {
      const std::string name = to_string(test.in) + " " + layout_name(layout);
      // Small integers: many draws, as behind a ReLU, and nothing to round.
      Values x = random_values(test.in, 21, -1, 2);
      for (double& value : x.at) value = std::floor(value);
      const TensorDesc in{test.in, layout};
      const auto op = bench_.backend().make_max_pool({in, test.kernel, test.stride, test.pad, true});
      const Values want = max_pool(x, test.kernel, test.stride, test.pad);
      ASSERT_EQ(op->output().shape, want.shape) << name;
      void* y = bench_.buffer(op->output());
      void* workspace = bench_.scratch(op->workspace_bytes());
      op->forward(bench_.put(in, x), y, workspace, bench_.scratch(op->scratch_bytes()));
      EXPECT_EQ(bench_.take(op->output(), y).at, want.at) << name;

      Values dy = random_values(want.shape, 22);
      for (double& value : dy.at) value = std::floor(8 * value);
      void* dx = bench_.buffer(in);
      op->backward(bench_.put(op->output(), dy), workspace, dx, bench_.scratch(op->scratch_bytes()));
      EXPECT_EQ(bench_.take(in, dx).at, max_pool_backward(x, dy, test.kernel, test.stride, test.pad).at) << name;

      const auto inference = bench_.backend().make_max_pool({in, test.kernel, test.stride, test.pad, false});
      EXPECT_EQ(inference->workspace_bytes(), 0U);
      void* again = bench_.buffer(op->output());
      inference->forward(bench_.put(in, x), again, nullptr, bench_.scratch(inference->scratch_bytes()));
      EXPECT_EQ(bench_.take(op->output(), again).at, want.at) << name;
    }
  }
}

TEST_P(Pooling, MaxHasTheGradientOfItsDifferences) {
  Values x = random_values({1, 16, 5, 5}, 23);
  const TensorDesc in{x.shape, backend_case().layouts[0]};
  const auto op = bench_.backend().make_max_pool({in, 3, 2, 1, true});
  void* workspace = bench_.scratch(op->workspace_bytes());
  op->forward(bench_.put(in, x), bench_.buffer(op->output()), workspace, bench_.scratch(op->scratch_bytes()));
  const Values dy = random_values(op->output().shape, 24);
  void* dx = bench_.buffer(in);
  op->backward(bench_.put(op->output(), dy), workspace, dx, bench_.scratch(op->scratch_bytes()));
  expect_numeric_gradient(
      x.at, bench_.take(in, dx).at, [&] { return weighted_sum(dy, max_pool(x, 3, 2, 1)); }, 1e-6, "dx", 400);
}

TEST_P(Pooling, GlobalAverageIsTheMean) {
  for (const Shape& shape : {Shape{3, 16, 7, 7}, Shape{2, 37, 4, 5}, Shape{2, 64, 1, 1}, Shape{1, 3, 8, 8}}) {
    for (const Layout layout : backend_case().layouts) {
      const std::string name = to_string(shape) + " " + layout_name(layout);
      Values x = random_values(shape, 25);
      const TensorDesc in{shape, layout};
      const auto op = bench_.backend().make_global_avg_pool(in);
      const Shape out{shape.n, shape.c, 1, 1};
      ASSERT_EQ(op->output(), (TensorDesc{out, Layout::nchw}));
      const auto count = static_cast<double>(shape.pixels());
      const auto mean = [&] {
        Values y(out);
        for (size_t i = 0; i < x.at.size(); ++i) y.at[i / static_cast<size_t>(shape.pixels())] += x.at[i] / count;
        return y;
      };
      void* y = bench_.buffer(op->output());
      op->forward(bench_.put(in, x), y);
      // Sums in double, on a device of runs of eight in fp32; one rounding at the end.
      expect_close(bench_.take(op->output(), y).at, mean().at, 3 * kRounding, name + ", y");
      const Values dy = random_values(out, 26);
      void* dx = bench_.buffer(in);
      op->backward(bench_.put(op->output(), dy), dx);
      const Values got = bench_.take(in, dx);
      Values want(shape);
      for (size_t i = 0; i < want.at.size(); ++i) want.at[i] = dy.at[i / static_cast<size_t>(shape.pixels())] / count;
      expect_close(got.at, want.at, kRounding, name + ", dx");
      expect_numeric_gradient(x.at, got.at, [&] { return weighted_sum(dy, mean()); }, 1e-6, name + ", dx", 8);
    }
  }
}

TEST_P(Pooling, ShortcutPicksPixelsAndAddsZeros) {
  struct ShortcutCase {
    Shape in;
    int out, stride;
  };
  for (const ShortcutCase& test : {ShortcutCase{{2, 16, 8, 8}, 32, 2},
                                   {{3, 20, 7, 5}, 44, 2},
                                   {{1, 5, 4, 4}, 5, 2},
                                   {{2, 32, 3, 3}, 64, 1},
                                   {{2, 6, 5, 5}, 9, 3}}) {
    for (const Layout layout : backend_case().layouts) {
      const std::string name = to_string(test.in) + " " + layout_name(layout);
      const Values x = random_values(test.in, 27);
      const TensorDesc in{test.in, layout};
      const auto op = bench_.backend().make_shortcut(in, test.out, test.stride);
      const Values want = shortcut(x, test.out, test.stride);
      ASSERT_EQ(op->output().shape, want.shape) << name;
      void* y = bench_.buffer(op->output());
      op->forward(bench_.put(in, x), y);
      EXPECT_EQ(bench_.take(op->output(), y).at, want.at) << name;
      const Values dy = random_values(want.shape, 28);
      void* dx = bench_.buffer(in);
      op->backward(bench_.put(op->output(), dy), dx);
      EXPECT_EQ(bench_.take(in, dx).at, shortcut_backward(x, dy, test.stride).at) << name;
    }
  }
}

TEST_P(Pooling, AddAdds) {
  for (const Layout layout : backend_case().layouts) {
    const TensorDesc desc{{3, 21, 9, 11}, layout};
    Values sum = random_values(desc.shape, 29);
    const Values other = random_values(desc.shape, 30);
    void* to = bench_.put(desc, sum);
    bench_.backend().make_add(desc)->run(to, bench_.put(desc, other));
    for (size_t i = 0; i < sum.at.size(); ++i) {
      sum.at[i] = static_cast<float>(sum.at[i]) + static_cast<float>(other.at[i]);
    }
    EXPECT_EQ(bench_.take(desc, to).at, sum.at);
  }
}

TEST_P(Pooling, InputNormalisesAsTorchvisionDoes) {
  constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
  constexpr std::array<float, 3> kStd{0.229F, 0.224F, 0.225F};
  const Shape shape{4, 3, 5, 5};
  Random random{31};
  std::vector<uint8_t> pixels(3 * 25 * 3);
  for (auto& byte : pixels) byte = static_cast<uint8_t>(random.below(256));
  std::set<Layout> layouts(backend_case().layouts.begin(), backend_case().layouts.end());
  layouts.insert(Layout::nchw);  // what a fully connected layer flattens
  for (const Layout layout : layouts) {
    const TensorDesc desc{shape, layout};
    void* y = bench_.buffer(desc);
    bench_.backend().make_input(desc, kMean, kStd)->forward(pixels.data(), 3, y);
    const Values got = bench_.take(desc, y);
    for (int n = 0; n < 4; ++n) {
      for (int c = 0; c < 3; ++c) {
        for (int i = 0; i < 25; ++i) {
          const auto channel = static_cast<size_t>(c);
          const float want =
              n < 3
                  ? (static_cast<float>(pixels[static_cast<size_t>((n * 25 + i) * 3 + c)]) / 255.0F - kMean[channel]) /
                        kStd[channel]
                  : 0.0F;
          ASSERT_EQ(got(n, c, i / 5, i % 5), want) << n << " " << c << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace trainyard::test
