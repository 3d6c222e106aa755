// Convolutions of one pixel that add up their outputs, and the batch norm that takes these sums.
#include "trainer/ops/cuda/convolution/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/ops/backends.h"
#include "tests/ops/host/host_cuda.h"

namespace trainyard::test {
namespace {

struct Product {
  Shape in;
  int out;
};

Conv2dParams params_of(const Product& product, DType stored = DType::bf16) {
  Conv2dParams p;
  p.input = {product.in, Layout::nhwc, stored};
  p.out_channels = product.out;
  return p;
}

Bench bench_of(HostKernels kernels = {}) {
  return Bench({.name = "CUDA", .make = [kernels] { return make_host_cuda_with(kernels); }, .layouts = {}}, 1);
}

struct Forward {
  std::vector<double> y, sums, normalised, mean, variance;
};

/// The convolution and its batch norm, with the sums of the one for the other or without.
Forward forward_of(const Product& product, bool by_sums, const SumOverRanks& ranks = {}) {
  Bench bench = bench_of();
  const Conv2dParams p = params_of(product);
  const auto op = bench.backend().make_conv2d(p);
  const auto channels = static_cast<size_t>(product.out);
  void* x = bench.put(p.input, random_values(p.input.shape, 1));
  float* w = bench.floats(random_numbers(channels * static_cast<size_t>(product.in.c), 2));
  void* packed = bench.scratch(op->forward_weights_bytes());
  op->pack_forward(w, packed);
  void* y = bench.buffer(op->output());
  void* scratch = bench.scratch(op->forward_scratch_bytes());
  const unsigned rows = op->sums_rows();
  float* partial = bench.floats(std::vector<double>(2 * rows * channels, 1e9));
  by_sums ? op->forward_with_sums(x, packed, y, scratch, partial) : op->forward(x, packed, y, scratch);

  const auto norm = bench.backend().make_batch_norm({.input = op->output(), .relu = true});
  BatchNormOp::Forward f;
  f.x = y;
  f.y = bench.buffer(op->output());
  f.gamma = bench.floats(random_numbers(channels, 3));
  f.beta = bench.floats(random_numbers(channels, 4));
  f.running_mean = bench.floats(std::vector<double>(channels, 0));
  f.running_var = bench.floats(std::vector<double>(channels, 1));
  if (by_sums) f.sums = {partial, rows};
  f.saved = bench.scratch(norm->saved_bytes());
  f.scratch = bench.scratch(norm->scratch_bytes());
  norm->forward_training(f, ranks);
  return {bench.take(op->output(), y).at, bench.read(partial, 2 * rows * channels), bench.take(op->output(), f.y).at,
          bench.read(f.running_mean, channels), bench.read(f.running_var, channels)};
}

const std::vector<Product> kProducts{{{1, 64, 5, 5}, 64},    {{2, 64, 9, 9}, 256},  {{1, 128, 9, 8}, 128},
                                     {{1, 128, 7, 7}, 512},  {{1, 256, 9, 8}, 64},  {{1, 256, 9, 15}, 128},
                                     {{2, 256, 3, 3}, 256},  {{1, 512, 3, 3}, 128}, {{1, 512, 5, 5}, 256},
                                     {{12, 64, 28, 28}, 128}};

TEST(PointwiseSums, AddUpWhatIsStored) {
  for (const Product& product : kProducts) {
    const std::string name = to_string(product.in) + " to " + std::to_string(product.out);
    const Forward fused = forward_of(product, true);
    const Forward apart = forward_of(product, false);
    EXPECT_EQ(fused.y, apart.y) << name;
    const auto channels = static_cast<size_t>(product.out);
    const size_t rows = fused.sums.size() / 2 / channels;
    ASSERT_GT(rows, 0U) << name;
    const size_t pixels = static_cast<size_t>(product.in.pixels());
    for (size_t c = 0; c < channels; ++c) {
      double sum = 0, squares = 0, want = 0, want_squares = 0;
      for (size_t r = 0; r < rows; ++r) {
        sum += fused.sums[r * channels + c];
        squares += fused.sums[(rows + r) * channels + c];
      }
      for (size_t n = 0; n < static_cast<size_t>(product.in.n); ++n) {
        for (size_t i = 0; i < pixels; ++i) {
          const double value = fused.y[(n * channels + c) * pixels + i];
          want += value;
          want_squares += value * value;
        }
      }
      ASSERT_NEAR(sum, want, 1e-5 * std::sqrt(want_squares * double(pixels))) << name << ", channel " << c;
      ASSERT_NEAR(squares, want_squares, 1e-5 * want_squares) << name << ", channel " << c;
    }
  }
}

TEST(PointwiseSums, NormaliseAsSumsOfTheirOwn) {
  for (const Product& product : kProducts) {
    const std::string name = to_string(product.in) + " to " + std::to_string(product.out);
    const Forward fused = forward_of(product, true);
    const Forward apart = forward_of(product, false);
    for (size_t c = 0; c < fused.mean.size(); ++c) {
      ASSERT_NEAR(fused.mean[c], apart.mean[c], 1e-5) << name;
      ASSERT_NEAR(fused.variance[c], apart.variance[c], 1e-5 * apart.variance[c]) << name;
    }
    // A step of bf16 where a number lies between two of them.
    for (size_t i = 0; i < fused.normalised.size(); ++i) {
      ASSERT_NEAR(fused.normalised[i], apart.normalised[i], 1e-4 + std::abs(apart.normalised[i]) / 128) << name;
    }
  }
}

TEST(PointwiseSums, JoinThoseOfOtherRanks) {
  // Another rank with the same numbers: the mean stays, and so does the biased variance.
  const auto twice = [](double* sums, size_t count) {
    for (size_t i = 0; i < count; ++i) sums[i] *= 2;
  };
  const Forward alone = forward_of(kProducts[1], true);
  const Forward joined = forward_of(kProducts[1], true, twice);
  for (size_t i = 0; i < alone.normalised.size(); ++i) {
    ASSERT_NEAR(joined.normalised[i], alone.normalised[i], 1e-4 + std::abs(alone.normalised[i]) / 128);
  }
}

TEST(PointwiseSums, AreOfProductsThatHaveAKernel) {
  const auto rows = [](Conv2dParams p) { return make_host_cuda()->make_conv2d(p)->sums_rows(); };
  const Product product{{2, 64, 8, 8}, 128};
  EXPECT_GT(rows(params_of(product)), 0U);
  EXPECT_EQ(rows(params_of(product, DType::f32)), 0U);
  EXPECT_GT(rows(params_of(product, DType::f16)), 0U);
  EXPECT_EQ(rows(params_of({{2, 1024, 8, 8}, 256})), 0U);
  EXPECT_EQ(rows(params_of({{2, 64, 8, 8}, 96})), 0U);
  Conv2dParams strided = params_of(product);
  strided.stride_h = strided.stride_w = 2;
  EXPECT_EQ(rows(strided), 0U);
  Conv2dParams wide = params_of(product);
  wide.kernel_h = wide.kernel_w = 3;
  wide.pad_h = wide.pad_w = 1;
  EXPECT_EQ(rows(wide), 0U);
  Conv2dParams inference = params_of(product);
  inference.training = false;
  EXPECT_EQ(rows(inference), 0U);
}

TEST(PointwiseTiling, SharesAllRowsAmongItsBlocks) {
  for (const unsigned rows : {1U, 63U, 64U, 129U, 12'544U, 802'816U}) {
    for (const auto& [inner, columns] :
         {std::pair{64U, 64U}, {64U, 256U}, {128U, 512U}, {256U, 1024U}, {512U, 2048U}}) {
      const cuda::PointwiseShape shape{rows, columns, inner};
      const cuda::PointwiseTiling* tiling = cuda::pointwise_tiling(shape, 132);
      ASSERT_NE(tiling, nullptr);
      const unsigned steps = tiling->steps(shape, 132);
      EXPECT_GE(steps, 1U);
      EXPECT_LE(steps, tiling->tiles(shape));
      EXPECT_LE(steps * (columns / tiling->columns), 132U);
    }
  }
}

TEST(PointwiseTiling, IsFoundByItsIndex) {
  unsigned index = 0;
  for (const cuda::PointwiseTiling& tiling : cuda::kPointwiseTilings)
    EXPECT_EQ(cuda::index_of(cuda::kPointwiseTilings, tiling), index++);
}

}  // namespace
}  // namespace trainyard::test
