// Data gradients of convolutions of one pixel to their end in a batch norm: which have a kernel, and
// what the sums are of. The self test compares the gradients themselves with ops one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/backends.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/ops/cuda/convolution/pointwise.h"

namespace trainyard::test {
namespace {

struct Product {
  Shape in;
  int out;
  GradientEndKind kind;

  std::string name() const {
    return to_string(in) + " from " + std::to_string(out) + ", end " + std::to_string(static_cast<int>(kind));
  }
  /// Whose inputs' products with the gradient are wanted.
  size_t norms() const { return norms_of(kind); }
  Conv2dParams params(DType stored) const {
    Conv2dParams p;
    p.input = {in, Layout::nhwc, stored};
    p.out_channels = out;
    return p;
  }
};

const std::vector<Product> kProducts{
    {{2, 64, 5, 5}, 256, GradientEndKind::inner},  {{1, 128, 9, 15}, 512, GradientEndKind::inner},
    {{1, 256, 9, 9}, 64, GradientEndKind::block},  {{1, 384, 9, 15}, 128, GradientEndKind::block},
    {{1, 512, 5, 5}, 512, GradientEndKind::block}, {{2, 256, 9, 9}, 64, GradientEndKind::pair},
    {{1, 512, 7, 7}, 256, GradientEndKind::pair},  {{1, 256, 9, 9}, 64, GradientEndKind::mask},
    {{1, 384, 9, 15}, 128, GradientEndKind::mask}, {{1, 512, 5, 5}, 512, GradientEndKind::mask},
};

Bench bench_of() {
  return Bench({.name = "CUDA", .make = [] { return make_host_cuda(); }, .layouts = {}}, 1);
}

TEST(PointwiseGradient, SumsAreOfWhatIsStored) {
  for (const DType stored : {DType::bf16, DType::f16}) {
    for (const Product& product : kProducts) {
      Bench bench = bench_of();
      const Conv2dParams p = product.params(stored);
      const auto op = bench.backend().make_conv2d(p);
      const size_t rows = op->end_sums_rows(product.kind);
      ASSERT_GT(rows, 0U) << product.name();
      const auto channels = static_cast<size_t>(product.in.c);
      const size_t norms = product.norms();

      const std::vector<double> x = random_values(product.in, 2).at;
      const std::vector<double> mean = random_numbers(channels, 3);
      float* w = bench.floats(random_numbers(channels * static_cast<size_t>(product.out), 4));
      PackedWeights packed{.out = product.out, .in = product.in.c, .dtype = stored, .transposed = true};
      packed.to = bench.scratch(packed.bytes());
      bench.backend().make_pack({packed})->run(w);
      GradientEnd end{.kind = product.kind};
      std::vector<uint8_t> bits(p.input.elements() / 8);
      for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint8_t>(i * 37);
      auto* passed = static_cast<uint8_t*>(bench.scratch(bits.size()));
      bench.backend().from_host(passed, bits.data(), bits.size());
      if (product.kind != GradientEndKind::inner) end.mask.passed = passed;
      end.mask.scale = bench.floats(random_numbers(channels, 5));
      end.mask.beta = bench.floats(random_numbers(channels, 6));
      void* inputs = bench.put(p.input, random_values(product.in, 2));
      for (size_t norm = 0; norm < norms; ++norm) {
        end.x.at(norm) = inputs;
        end.mask.mean.at(norm) = bench.floats(mean);
      }
      end.sums = bench.floats(std::vector<double>((1 + norms) * rows * channels, 1e9));
      void* g = bench.put(p.input, random_values(product.in, 7));
      end.more = g;
      op->backward_data_to_end(bench.put(op->output(), random_values(op->output().shape, 8)), packed.to, end, g);

      const std::vector<double> gradient = bench.take(p.input, g).at;
      const std::vector<double> in = bench.take(p.input, inputs).at;
      const std::vector<double> sums = bench.read(end.sums, (1 + norms) * rows * channels);
      const size_t pixels = static_cast<size_t>(product.in.pixels());
      size_t zeros = 0;
      for (const double value : gradient) zeros += value == 0 ? 1 : 0;
      EXPECT_GT(zeros, gradient.size() / 4) << product.name();
      EXPECT_LT(zeros, gradient.size() * 3 / 4) << product.name();
      for (size_t c = 0; c < channels; ++c) {
        double sum = 0, products = 0, size = 0;
        for (size_t n = 0; n < static_cast<size_t>(product.in.n); ++n) {
          for (size_t i = (n * channels + c) * pixels; i < (n * channels + c + 1) * pixels; ++i) {
            sum += gradient[i];
            products += gradient[i] * (in[i] - static_cast<double>(static_cast<float>(mean[c])));
            size += std::abs(gradient[i]) * (1 + std::abs(in[i] - mean[c]));
          }
        }
        for (size_t kind = 0; kind <= norms; ++kind) {
          double got = 0;
          for (size_t row = 0; row < rows; ++row) got += sums[(kind * rows + row) * channels + c];
          ASSERT_NEAR(got, kind == 0 ? sum : products, 1e-5 * size) << product.name() << ", channel " << c;
        }
      }
    }
  }
}

TEST(PointwiseGradient, IsOfProductsThatHaveAKernel) {
  const auto rows = [](const Conv2dParams& p, GradientEndKind kind) {
    return make_host_cuda()->make_conv2d(p)->end_sums_rows(kind);
  };
  const Product product{{2, 256, 8, 8}, 64, GradientEndKind::block};
  const Conv2dParams p = product.params(DType::bf16);
  EXPECT_GT(rows(p, GradientEndKind::block), 0U);
  EXPECT_GT(rows(p, GradientEndKind::pair), 0U);
  EXPECT_EQ(rows(p, GradientEndKind::mask), rows(p, GradientEndKind::block));
  EXPECT_EQ(rows(p, GradientEndKind::inner), 0U) << "it is for the last convolution of a block";
  EXPECT_EQ(rows(product.params(DType::f32), GradientEndKind::block), 0U);
  Conv2dParams strided = p;
  strided.stride_h = strided.stride_w = 2;
  EXPECT_EQ(rows(strided, GradientEndKind::block), 0U);
  Conv2dParams first = p;
  first.input_gradient = false;
  EXPECT_EQ(rows(first, GradientEndKind::block), 0U);
}

TEST(PointwiseGradient, TilingsAreFoundByTheirIndex) {
  const auto check = [](const auto& tilings) {
    unsigned index = 0;
    for (const cuda::PointwiseTiling& tiling : tilings) EXPECT_EQ(cuda::index_of(tilings, tiling), index++);
  };
  check(cuda::kInnerGradientTilings);
  check(cuda::kMergedGradientTilings);
  check(cuda::kBlockGradientTilings);
  check(cuda::kPairGradientTilings);
}

/// Their depth has that of the gradient and of the input, each of whole chunks of 64.
TEST(PointwiseGradient, MergedTilingsTakeWhatTheyAreFor) {
  for (const auto& [in, out] : {std::pair{64U, 256U}, std::pair{128U, 512U}}) {
    const cuda::PointwiseShape shape{1000, in, in + out};
    const cuda::PointwiseTiling* tiling = cuda::find_tiling(cuda::kMergedGradientTilings, shape, 132);
    ASSERT_NE(tiling, nullptr) << in;
    EXPECT_EQ(tiling->inner, in + out);
    EXPECT_EQ(in % tiling->columns, 0U);
    EXPECT_EQ(cuda::find_tiling(cuda::kInnerGradientTilings, shape, 132), nullptr);
  }
  EXPECT_EQ(cuda::find_tiling(cuda::kMergedGradientTilings, {1000, 64, 256}, 132), nullptr);
}

}  // namespace
}  // namespace trainyard::test
