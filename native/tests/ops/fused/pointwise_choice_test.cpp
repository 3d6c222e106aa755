// The kernel of 1x1 convolutions with sums: its check, and which tiling a convolution takes. The
// kernel is the one of host_pointwise.cpp, a loop on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "tests/ops/backends.h"
#include "tests/ops/fused/measured_gpu.h"
#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/fused/product_trial.h"
#include "trainer/ops/cuda/fused/tiling_choice.h"

namespace trainyard::test {
namespace {

using cuda::PointwiseTiling;

/// From 64 channels to 256: tilings 64x256 and 128x128 take it.
Conv2dParams convolution(int in = 64, int out = 256) {
  Conv2dParams p;
  p.input = {{2, in, 9, 9}, Layout::nhwc, DType::bf16};
  p.out_channels = out;
  return p;
}

std::string tiling_of(Backend& backend, const Conv2dParams& params = convolution()) {
  const auto op = backend.make_conv2d(params);
  const std::string text = op->description();
  const std::string before = "by our kernel of ";
  const size_t at = text.find(before);
  EXPECT_EQ(at != std::string::npos, op->sums_rows() > 0);
  return at == std::string::npos ? "apart" : text.substr(at + before.size());
}

TEST(PointwiseCheck, PassesEveryTilingThatComputesRightly) {
  for (const PointwiseTiling& tiling : cuda::kPointwiseTilings) {
    const auto trial = cuda::PointwiseTrial::of(tiling);
    EXPECT_TRUE(tiling.takes(trial.shape, trial.processors));
    EXPECT_GE(tiling.tiles(trial.shape), 3 * tiling.steps(trial.shape, trial.processors));
    EXPECT_NE(trial.shape.rows % tiling.rows, 0U);
    EXPECT_EQ(trial.shape.columns, 2 * tiling.columns);
  }
  for (const int in : {64, 128, 256, 512}) {
    for (const int out : {64, 128, 256}) {
      Gpu gpu;
      const auto shape = *cuda::pointwise_shape(convolution(in, out));
      const PointwiseTiling* tiling = cuda::pointwise_tiling(shape, 132);
      const std::string wanted =
          tiling == nullptr ? "apart" : std::to_string(tiling->rows) + "x" + std::to_string(tiling->columns);
      EXPECT_EQ(tiling_of(*gpu.open(), convolution(in, out)), wanted);
      EXPECT_EQ(gpu.launches.size(), tiling == nullptr ? 0U : 1U);
      EXPECT_TRUE(gpu.said.empty()) << gpu.said[0];
    }
  }
}

TEST(PointwiseCheck, IsMadeOnceForATilingAndABackEnd) {
  Gpu gpu;
  const auto backend = gpu.open();
  EXPECT_EQ(tiling_of(*backend), "64x256");
  EXPECT_EQ(tiling_of(*backend), "64x256");
  EXPECT_EQ(tiling_of(*backend, convolution(64, 512)), "64x256");
  EXPECT_EQ(gpu.launches, (std::map<std::string, int>{{"64x256", 1}}));
  EXPECT_EQ(tiling_of(*backend, convolution(64, 128)), "128x128");
  EXPECT_EQ(gpu.launches, (std::map<std::string, int>{{"64x256", 1}, {"128x128", 1}}));
}

BFloat16 number(double value) { return static_cast<BFloat16>(static_cast<float>(value)); }

/// What a kernel may do wrong, and what the line says of it.
struct Fault {
  const char* name;
  Spoil spoil;
  const char* said;
};

const std::vector<Fault> kFaults{
    {"zeros in the last rows",
     [](const WrittenProduct& w) {
       const size_t from = size_t{w.shape.rows / w.tiling.rows} * w.tiling.rows * w.shape.columns;
       std::fill(w.d + from, w.d + size_t{w.shape.rows} * w.shape.columns, number(0));
     },
     "row 1728, column "},
    {"one tile's rows for another's",
     [](const WrittenProduct& w) {
       const size_t tile = size_t{w.tiling.rows} * w.shape.columns;
       std::swap_ranges(w.d, w.d + tile, w.d + 12 * tile);
     },
     "row 0, column 0 is "},
    {"the columns of the second tile moved by eight",
     [](const WrittenProduct& w) {
       for (size_t r = 0; r < w.shape.rows; ++r) {
         BFloat16* row = w.d + r * w.shape.columns;
         std::rotate(row + w.tiling.columns, row + w.tiling.columns + 8, row + w.shape.columns);
       }
     },
     "column 256 is "},
    {"a step too much everywhere",
     [](const WrittenProduct& w) {
       for (size_t i = 0; i < size_t{w.shape.rows} * w.shape.columns; ++i) w.d[i].bits += 2;
     },
     "row 0, column 0 is "},
    {"one partial sum left out", [](const WrittenProduct& w) { w.sums[3 * w.shape.columns + 7] = 0; },
     "the sum of column 7 is "},
    {"squares of numbers before they were rounded",
     [](const WrittenProduct& w) {
       const size_t all = size_t{w.tiling.sums_rows(w.shape, w.processors)} * w.shape.columns;
       for (size_t i = all; i < 2 * all; ++i) w.sums[i] *= 1.0001F;
     },
     "the sum of squares of column 0 is "},
    {"one number that is not written and not looked at", [](const WrittenProduct& w) { w.d[1].bits = 0xFFFF; },
     "the sum of column 1 is "},
    {"a row behind the end", [](const WrittenProduct& w) { w.d[size_t{w.shape.rows} * w.shape.columns] = number(1); },
     "behind the end"},
    {"sums behind the end",
     [](const WrittenProduct& w) {
       w.sums[2 * size_t{w.tiling.sums_rows(w.shape, w.processors)} * w.shape.columns] = 1;
     },
     "behind the end"},
};

TEST(PointwiseCheck, LeavesAConvolutionWithoutAKernelThatComputesWrongly) {
  for (const Fault& fault : kFaults) {
    Gpu gpu;
    gpu.spoil = fault.spoil;
    const auto backend = gpu.open();
    EXPECT_EQ(tiling_of(*backend), "apart") << fault.name;
    EXPECT_EQ(tiling_of(*backend), "apart") << fault.name;
    ASSERT_EQ(gpu.said.size(), 1U) << fault.name;
    EXPECT_NE(gpu.said[0].find(fault.said), std::string::npos) << fault.name << ": " << gpu.said[0];
    EXPECT_NE(gpu.said[0].find("(64 channels in, tiles of 64x256)"), std::string::npos) << gpu.said[0];
  }
}

TEST(PointwiseChoice, IsTheFastestOfTilingsAndOfTheConvolutionWithItsSums) {
  const std::map<std::string, std::vector<double>> times{
      {"apart", {1.0, 1.5, 1.2}}, {"64x256", {1.0, 0.8, 0.9}}, {"128x128", {1.0, 0.99, 0.7}}};
  for (const auto& [fastest, milliseconds] : times) {
    Gpu gpu;
    gpu.choose_by(milliseconds);
    const auto backend = gpu.open();
    EXPECT_EQ(tiling_of(*backend), fastest);
    EXPECT_EQ(gpu.clock.measured, 3U);
    EXPECT_EQ(tiling_of(*backend), fastest);
    EXPECT_EQ(gpu.clock.measured, 3U) << "measured again";
    // Each once to be checked and once to be measured.
    EXPECT_EQ(gpu.launches, (std::map<std::string, int>{{"64x256", 2}, {"128x128", 2}}));
    EXPECT_EQ(
        gpu.plans->chosen({"A GPU", "cuDNN 9.19.0", "forward with sums, 2x64x9x9 to 256 by 1x1, bf16, kernels 1"}),
        fastest == "apart" ? "apart" : "fused " + fastest);
  }
}

TEST(PointwiseChoice, IsMadeForEachShape) {
  Gpu gpu;
  gpu.choose_by({1.0, 0.5, 0.8, 1.0, 2.0, 2.0});
  const auto backend = gpu.open();
  EXPECT_EQ(tiling_of(*backend), "64x256");
  Conv2dParams larger = convolution();
  larger.input.shape.n = 4;
  EXPECT_EQ(tiling_of(*backend, larger), "apart");
  EXPECT_EQ(gpu.clock.measured, 6U);
}

TEST(PointwiseChoice, IsApartWhereThereIsNoRoomToMeasure) {
  Gpu gpu;
  gpu.choose_by({});
  gpu.clock.has_room = false;
  EXPECT_EQ(tiling_of(*gpu.open()), "apart");
  EXPECT_EQ(gpu.clock.measured, 0U);
}

TEST(PointwiseChoice, DoesNotMeasureWhatComputesWrongly) {
  Gpu gpu;
  gpu.choose_by({1.0, 0.9});
  gpu.spoil = [](const WrittenProduct& w) {
    if (w.tiling.rows == 64) w.sums[0] += 1000;
  };
  EXPECT_EQ(tiling_of(*gpu.open()), "128x128");
  EXPECT_EQ(gpu.clock.measured, 2U);
  EXPECT_EQ(gpu.said.size(), 1U);
}

TEST(PointwiseChoice, IsOnlyOfProductsThatHaveAKernel) {
  Gpu gpu;
  gpu.choose_by({});
  const auto backend = gpu.open();
  Conv2dParams inference = convolution();
  inference.training = false;
  EXPECT_EQ(tiling_of(*backend, inference), "apart");
  EXPECT_EQ(tiling_of(*backend, convolution(96, 256)), "apart");
  EXPECT_TRUE(gpu.launches.empty());
}

/// The choice changes which kernels run, and no number by more than they differ in rounding.
TEST(PointwiseChoice, ComputesTheSameOutputs) {
  std::vector<double> first;
  for (const auto& milliseconds : {std::vector<double>{1, 2, 2}, {1, 0.5, 2}, {1, 2, 0.5}}) {
    Gpu gpu;
    gpu.choose_by(milliseconds);
    Bench bench({.name = "CUDA", .make = [&] { return gpu.open(); }, .layouts = {}}, 1);
    const Conv2dParams p = convolution();
    const auto op = bench.backend().make_conv2d(p);
    void* x = bench.put(p.input, random_values(p.input.shape, 1));
    float* w = bench.floats(random_numbers(size_t{64} * 256, 2));
    void* packed = bench.scratch(op->forward_weights_bytes());
    op->pack_forward(w, packed);
    void* y = bench.buffer(op->output());
    void* scratch = bench.scratch(op->forward_scratch_bytes());
    float* sums = bench.floats(std::vector<double>(2 * size_t{op->sums_rows()} * 256, 0));
    op->sums_rows() > 0 ? op->forward_with_sums(x, packed, y, scratch, sums) : op->forward(x, packed, y, scratch);
    const std::vector<double> values = bench.take(op->output(), y).at;
    if (first.empty()) first = values;
    EXPECT_EQ(values, first);
  }
}

}  // namespace
}  // namespace trainyard::test
