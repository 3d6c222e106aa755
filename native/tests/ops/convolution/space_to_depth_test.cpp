// A first convolution by space to depth beside the same one as it is.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ops/backends.h"
#include "tests/ops/host/host_cuda.h"

namespace trainyard::test {
namespace {

struct Stem {
  Shape in;
  int kernel_h, kernel_w, pad_h, pad_w;
};

struct Passes {
  std::string description;
  std::vector<double> y, dw;
};

Passes passes_of(bool plain, const Conv2dParams& p) {
  Bench bench({.name = "CUDA", .make = [plain] { return make_host_cuda_with({.plain = plain}); }, .layouts = {}}, 1);
  const auto op = bench.backend().make_conv2d(p);
  const size_t weights = size_t(p.out_channels) * size_t(p.input.shape.c) * size_t(p.kernel_h) * size_t(p.kernel_w);
  void* x = bench.put(p.input, random_values(p.input.shape, 1));
  float* w = bench.floats(random_numbers(weights, 2));
  void* packed = bench.scratch(op->forward_weights_bytes());
  op->pack_forward(w, packed);
  void* y = bench.buffer(op->output());
  op->forward(x, packed, y, bench.scratch(op->forward_scratch_bytes()));
  void* dy = bench.put(op->output(), random_values(p.output_shape(), 3));
  float* dw = bench.floats(std::vector<double>(weights, 1e9));
  op->backward_weights(x, dy, dw, bench.scratch(op->backward_weights_scratch_bytes()));
  return {op->description(), bench.take(op->output(), y).at, bench.read(dw, weights)};
}

// Sums of doubles of the same terms, whose order alone differs: the same when they are rounded.
TEST(SpaceToDepth, GivesTheBitsOfTheConvolutionAsItIs) {
  for (const Stem& stem : {Stem{{2, 3, 14, 12}, 7, 7, 3, 3},
                           {{2, 3, 13, 11}, 7, 7, 3, 3},  // rows of an odd number of numbers
                           {{3, 3, 15, 15}, 3, 3, 0, 0},  // inception_v3's
                           {{1, 3, 9, 8}, 5, 4, 2, 1},
                           {{2, 1, 9, 9}, 3, 3, 1, 1},
                           {{2, 2, 7, 10}, 2, 3, 0, 1},
                           {{2, 4, 8, 8}, 3, 1, 1, 0}}) {
    for (const DType stored : {DType::bf16, DType::f16}) {
      Conv2dParams p;
      p.input = {stem.in, Layout::nhwc, stored};
      p.out_channels = 16;
      p.kernel_h = stem.kernel_h;
      p.kernel_w = stem.kernel_w;
      p.stride_h = p.stride_w = 2;
      p.pad_h = stem.pad_h;
      p.pad_w = stem.pad_w;
      p.input_gradient = false;
      const std::string name = to_string(stem.in) + " in " + type_name(stored);
      const Passes folded = passes_of(false, p);
      const Passes plain = passes_of(true, p);
      EXPECT_NE(folded.description.find("space to depth"), std::string::npos) << name;
      EXPECT_EQ(plain.description.find("space to depth"), std::string::npos) << name;
      EXPECT_EQ(folded.y, plain.y) << name;
      EXPECT_EQ(folded.dw, plain.dw) << name;
    }
  }
}

TEST(SpaceToDepth, IsForNarrowStemsAlone) {
  Conv2dParams stem;
  stem.input = {{2, 3, 9, 9}, Layout::nhwc, DType::bf16};
  stem.out_channels = 8;
  stem.kernel_h = stem.kernel_w = 3;
  stem.stride_h = stem.stride_w = 2;
  stem.input_gradient = false;
  const auto takes = [](const Conv2dParams& p) {
    return make_host_cuda()->make_conv2d(p)->description().find("space to depth") != std::string::npos;
  };
  EXPECT_TRUE(takes(stem));
  Conv2dParams other = stem;
  other.input.dtype = DType::f32;
  EXPECT_FALSE(takes(other)) << "fp32";
  other = stem;
  other.stride_w = 1;
  EXPECT_FALSE(takes(other)) << "stride 1";
  other = stem;
  other.input.shape.c = 8;
  EXPECT_FALSE(takes(other)) << "8 channels";
  other = stem;
  other.input_gradient = true;
  EXPECT_FALSE(takes(other)) << "with a gradient of its input";
  other.training = false;
  EXPECT_TRUE(takes(other)) << "inference has no gradients";
}

}  // namespace
}  // namespace trainyard::test
