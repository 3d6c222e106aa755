// Convolution: every layout, odd sizes, strides, paddings and channels that fill no block.
#include <cmath>

#include "common/error.h"
#include "tests/ops/reference.h"

namespace trainyard::test {
namespace {

struct ConvCase {
  Shape in;
  int out, kernel_h, kernel_w, stride, pad_h, pad_w;
};

const ConvCase kCases[] = {
    {{2, 3, 9, 9}, 16, 3, 3, 1, 1, 1},   {{2, 3, 13, 11}, 24, 7, 7, 2, 3, 3}, {{3, 16, 8, 8}, 16, 3, 3, 1, 1, 1},
    {{2, 16, 9, 7}, 32, 3, 3, 2, 1, 1},  {{1, 32, 5, 5}, 48, 1, 1, 2, 0, 0},  {{3, 20, 6, 5}, 12, 3, 3, 1, 1, 1},
    {{2, 5, 7, 7}, 7, 5, 5, 1, 2, 2},    {{2, 16, 6, 8}, 16, 1, 7, 1, 0, 3},  {{2, 17, 5, 6}, 33, 3, 1, 1, 1, 0},
    {{5, 64, 2, 2}, 64, 3, 3, 1, 1, 1},  {{1, 8, 1, 1}, 8, 1, 1, 1, 0, 0},    {{2, 48, 4, 4}, 16, 3, 3, 2, 0, 0},
    {{4, 128, 3, 3}, 32, 3, 3, 1, 1, 1}, {{3, 64, 2, 2}, 48, 3, 3, 2, 1, 1},
};

class Conv2d : public ContractTest {
 protected:
  void check(const ConvCase& test, Layout layout) {
    ConvReference reference;
    Conv2dParams& p = reference.params;
    p.input = {test.in, layout};
    p.out_channels = test.out;
    p.kernel_h = test.kernel_h;
    p.kernel_w = test.kernel_w;
    p.stride_h = p.stride_w = test.stride;
    p.pad_h = test.pad_h;
    p.pad_w = test.pad_w;
    const size_t weights = size_t(test.out) * test.in.c * test.kernel_h * test.kernel_w;
    reference.x = random_values(test.in, 1);
    reference.w = random_numbers(weights, 2);
    const Values dy = random_values(p.output_shape(), 3);
    const std::string name = to_string(test.in) + " to " + std::to_string(test.out) + ", " + layout_name(layout);

    const auto op = bench_.backend().make_conv2d(p);
    ASSERT_EQ(op->output().shape, p.output_shape()) << name;
    void* x = bench_.put(p.input, reference.x);
    float* w = bench_.floats(reference.w);
    void* y = bench_.buffer(op->output());
    const void* packed = packed_or_plain(op->forward_weights_bytes(), w, [&](void* to) { op->pack_forward(w, to); });
    op->forward(x, packed, y, bench_.scratch(op->forward_scratch_bytes()));
    compare(bench_.take(op->output(), y).at, reference.forward().at, reference.forward(true).at,
            double(test.in.c) * test.kernel_h * test.kernel_w, name + ", y of " + op->description());

    void* gradient = bench_.put(op->output(), dy);
    void* dx = bench_.buffer(p.input);
    packed = packed_or_plain(op->backward_weights_bytes(), w, [&](void* to) { op->pack_backward(w, to); });
    op->backward_data(gradient, packed, dx, bench_.scratch(op->backward_data_scratch_bytes()));
    const Values got_dx = bench_.take(p.input, dx);
    compare(got_dx.at, reference.backward_data(dy).at, reference.backward_data(dy, true).at,
            double(test.out) * test.kernel_h * test.kernel_w, name + ", dx of " + op->description());

    float* dw = bench_.floats(std::vector<double>(weights, NAN));
    op->backward_weights(x, gradient, dw, bench_.scratch(op->backward_weights_scratch_bytes()));
    const std::vector<double> got_dw = bench_.read(dw, weights);
    compare(got_dw, reference.backward_weights(dy), reference.backward_weights(dy, true),
            double(test.in.n) * static_cast<double>(p.output_shape().pixels()), name + ", dw of " + op->description());

    // A convolution is linear in x and in w: differences err by rounding only.
    const auto loss = [&] { return weighted_sum(dy, reference.forward()); };
    expect_numeric_gradient(reference.x.at, got_dx.at, loss, 2e-6, name + ", dx", 6);
    expect_numeric_gradient(reference.w, got_dw, loss, 2e-6, name + ", dw", 6);
  }

  template <class Pack>
  const void* packed_or_plain(size_t bytes, const float* plain, const Pack& pack) {
    if (bytes == 0) return plain;
    void* memory = bench_.scratch(bytes);
    pack(memory);
    return memory;
  }

  /// A sum of k products in any order errs by about sqrt(k) roundings of its size (Higham and Mary
  /// 2019, doi:10.1137/18M1226312); 4 is the factor for odds of one in some thousands a sum, and
  /// one rounding is the result's.
  static void compare(const std::vector<double>& got, const std::vector<double>& want, const std::vector<double>& sizes,
                      double k, const std::string& what) {
    std::vector<double> bound(sizes);
    for (double& size : bound) size *= kRounding * (1 + 4 * std::sqrt(k));
    expect_within(got, want, bound, what);
  }
};

TRAINYARD_FOR_EVERY_BACKEND(Conv2d);

TEST_P(Conv2d, IsWhatItsDefinitionSays) {
  for (const ConvCase& test : kCases) {
    for (const Layout layout : backend_case().layouts) check(test, layout);
  }
}

TEST_P(Conv2d, RepeatsItsBits) {
  Conv2dParams p;
  p.input = {{6, 32, 14, 14}, backend_case().layouts[0]};
  p.out_channels = 32;
  p.kernel_h = p.kernel_w = 3;
  p.pad_h = p.pad_w = 1;
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < 3; ++run) {
    const auto op = bench_.backend().make_conv2d(p);
    void* x = bench_.put(p.input, random_values(p.input.shape, 1));
    void* dy = bench_.put(op->output(), random_values(p.output_shape(), 2));
    float* dw = bench_.floats(std::vector<double>(32 * 32 * 9, 0));
    op->backward_weights(x, dy, dw, bench_.scratch(op->backward_weights_scratch_bytes()));
    runs.push_back(bench_.read(dw, 32 * 32 * 9));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(runs[0], runs[2]);
}

TEST_P(Conv2d, NeverFallsBackToASlowKernelInResNets) {
  struct Step {
    int in, out, kernel, stride;
  };
  // Stems, the bodies of resnet20 and resnet18, downsampling.
  for (const Step& step : {Step{3, 16, 3, 1},
                           {3, 64, 7, 2},
                           {16, 16, 3, 1},
                           {16, 32, 3, 2},
                           {32, 64, 3, 2},
                           {64, 64, 3, 1},
                           {64, 128, 1, 2},
                           {256, 512, 3, 2},
                           {512, 512, 3, 1}}) {
    // The last stage of resnet18 has 1 or 2 pixels a row for images of 32 or 64.
    for (const int side : {1, 2, 4, 16}) {
      Conv2dParams p;
      p.input.shape = {4, step.in, side, side};
      p.out_channels = step.out;
      p.kernel_h = p.kernel_w = step.kernel;
      p.stride_h = p.stride_w = step.stride;
      p.pad_h = p.pad_w = step.kernel / 2;
      p.input_gradient = step.in != 3;
      // The layout that flows through a network is the one that its stem gives.
      Conv2dParams stem = p;
      stem.input.shape.c = 3;
      stem.input_gradient = false;
      stem.input.layout = bench_.backend().input_layout(stem);
      p.input.layout = step.in == 3 ? stem.input.layout : bench_.backend().make_conv2d(stem)->output().layout;
      const auto op = bench_.backend().make_conv2d(p);
      EXPECT_EQ(op->description().find("ref"), std::string::npos)
          << step.in << " to " << step.out << " of " << side << " pixels a row: " << op->description();
    }
  }
}

TEST_P(Conv2d, RefusesAKernelLargerThanItsInput) {
  Conv2dParams p;
  p.input = {{1, 16, 2, 2}, backend_case().layouts[0]};
  p.out_channels = 16;
  p.kernel_h = p.kernel_w = 3;
  EXPECT_THROW(bench_.backend().make_conv2d(p), Error);
}

}  // namespace
}  // namespace trainyard::test
