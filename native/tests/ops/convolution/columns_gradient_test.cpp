// The gradient of a convolution's weights as products of columns, which the CPU takes only where
// oneDNN has no fast kernel: here on every processor.
#include "trainer/ops/cpu/columns_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/ops/reference.h"

namespace trainyard::test {
namespace {

/// [n, c, h, w] as it lies in memory, or [n, h, w, c].
std::vector<float> laid_out(const Values& values, bool channels_last) {
  const Shape& s = values.shape;
  std::vector<float> out(values.at.size());
  size_t from = 0;
  for (int n = 0; n < s.n; ++n) {
    for (int c = 0; c < s.c; ++c) {
      for (int pixel = 0; pixel < s.h * s.w; ++pixel, ++from) {
        const size_t last = (size_t(n) * s.h * s.w + pixel) * s.c + c;
        out[channels_last ? last : from] = static_cast<float>(values.at[from]);
      }
    }
  }
  return out;
}

void check(const Conv2dParams& p) {
  ConvReference reference;
  reference.params = p;
  reference.x = random_values(p.input.shape, 1);
  const size_t weights = size_t(p.out_channels) * p.input.shape.c * p.kernel_h * p.kernel_w;
  reference.w.assign(weights, 0);
  const Values dy = random_values(p.output_shape(), 2);

  const cpu::ColumnsGradient gradient(p);
  std::vector<float> columns(gradient.columns_bytes() / sizeof(float));
  std::vector<float> dw(weights, NAN);
  gradient.run(laid_out(reference.x, false).data(), laid_out(dy, true).data(), dw.data(), columns.data());

  // As in conv2d_test.cpp.
  const double k = double(p.input.shape.n) * static_cast<double>(p.output_shape().pixels());
  std::vector<double> bound = reference.backward_weights(dy, true);
  for (double& size : bound) size *= kRounding * (1 + 4 * std::sqrt(k));
  expect_within({dw.begin(), dw.end()}, reference.backward_weights(dy), bound, to_string(p.input.shape));
}

Conv2dParams convolution(Shape in, int out, int kernel_h, int kernel_w, int stride, int pad_h, int pad_w) {
  Conv2dParams p;
  p.input.shape = in;
  p.out_channels = out;
  p.kernel_h = kernel_h;
  p.kernel_w = kernel_w;
  p.stride_h = p.stride_w = stride;
  p.pad_h = pad_h;
  p.pad_w = pad_w;
  return p;
}

TEST(ColumnsGradient, IsWhatItsDefinitionSays) {
  check(convolution({5, 64, 2, 2}, 48, 3, 3, 1, 1, 1));
  check(convolution({3, 17, 1, 1}, 8, 3, 3, 2, 1, 1));
  check(convolution({2, 3, 9, 7}, 5, 1, 3, 2, 0, 1));
  check(convolution({1, 4, 4, 6}, 3, 2, 2, 1, 0, 0));
}

TEST(ColumnsGradient, AddsUpGroupsOfImages) {
  // 73,728 bytes of columns an image: 240 images are more than one group.
  const Conv2dParams p = convolution({240, 512, 2, 2}, 2, 3, 3, 1, 1, 1);
  EXPECT_LT(cpu::ColumnsGradient(p).columns_bytes(), size_t{240} * 73'728);
  check(p);
}

}  // namespace
}  // namespace trainyard::test
