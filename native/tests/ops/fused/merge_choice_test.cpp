// Whether a batch norm's gradient is merged into the gradients of the convolution before it: the
// check of both kernels, and the choice by time. The kernels are those of host_pixels.cpp and
// host_pointwise.cpp, loops on the host.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/fused/measured_gpu.h"
#include "trainer/ops/cuda/convolution/pointwise.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMerged = "a batch norm's gradient merged by our kernels";

Conv2dParams convolution(int in = 64, int out = 256, DType stored = DType::bf16) {
  Conv2dParams p;
  p.input = {{2, in, 9, 9}, Layout::nhwc, stored};
  p.out_channels = out;
  return p;
}

/// A convolution that takes the batch norm behind it.
struct Taker {
  int in, out;
  DType stored;

  Conv2dParams params() const { return convolution(in, out, stored); }
  /// As lines name its kernels.
  std::string kernel() const {
    return "gradients of 1x1 convolutions with a batch norm's merged (" + std::to_string(in) + " channels in, " +
           std::to_string(out) + (stored == DType::f16 ? " out, fp16)" : " out)");
  }
  /// As choices are kept.
  std::string work() const {
    return "batch norm's gradient merged, 2x" + std::to_string(in) + "x9x9 to " + std::to_string(out) + " by 1x1, " +
           (stored == DType::f16 ? "fp16" : "bf16") + ", kernels 1";
  }
};
const std::vector<Taker> kTakers{
    {64, 256, DType::bf16}, {64, 256, DType::f16}, {128, 512, DType::bf16}, {128, 512, DType::f16}};

bool says_merged(const Conv2dOp& op) { return op.description().find(kMerged) != std::string::npos; }

bool is_merged_gradient(const WrittenProduct& written) {
  return std::ranges::any_of(cuda::kMergedGradientTilings,
                             [&](const cuda::PointwiseTiling& tiling) { return tiling.inner == written.tiling.inner; });
}

TEST(MergeCheck, PassesKernelsThatComputeRightly) {
  for (const Taker& taker : kTakers) {
    Gpu gpu;
    const auto backend = gpu.open();
    const auto op = backend->make_conv2d(taker.params());
    EXPECT_FALSE(says_merged(*op)) << "nobody has asked";
    int gradients = 0;
    gpu.spoil = [&](const WrittenProduct& written) { gradients += is_merged_gradient(written) ? 1 : 0; };
    const MergeBytes bytes = op->merge_bytes();
    ASSERT_TRUE(bytes) << taker.kernel();
    const size_t in = static_cast<size_t>(taker.in);
    const size_t out = static_cast<size_t>(taker.out);
    EXPECT_EQ(bytes.products, (out + in + 1) * in * sizeof(float));
    EXPECT_EQ(bytes.scratch, 3 * bytes.products) << "162 pixels are three chunks, a step each";
    EXPECT_EQ(bytes.weights, in * (out + in) * sizeof(BFloat16) + in * sizeof(float));
    EXPECT_GT(op->merged_sums_rows(), 0U);
    EXPECT_TRUE(says_merged(*op)) << op->description();

    EXPECT_TRUE(op->merge_bytes());
    EXPECT_TRUE(backend->make_conv2d(taker.params())->merge_bytes());
    EXPECT_EQ(gpu.pixels, 1) << "checked again";
    EXPECT_EQ(gradients, 1) << "checked again";
    EXPECT_TRUE(gpu.said.empty()) << gpu.said[0];
  }
}

TEST(MergeCheck, IsOnlyOfConvolutionsThatHaveTheKernels) {
  Conv2dParams strided = convolution();
  strided.stride_h = strided.stride_w = 2;
  Conv2dParams of_the_first = convolution();
  of_the_first.input_gradient = false;
  Conv2dParams inference = convolution();
  inference.training = false;
  const std::vector<std::pair<const char*, Conv2dParams>> others{
      {"fp32", convolution(64, 256, DType::f32)},
      {"a stride", strided},
      {"other channels", convolution(128, 256)},
      {"more channels", convolution(256, 1024)},
      {"the other direction", convolution(256, 64)},
      {"no gradient of its input", of_the_first},
      {"inference", inference},
  };
  for (const auto& [name, params] : others) {
    Gpu gpu;
    const auto backend = gpu.open();
    const auto op = backend->make_conv2d(params);
    EXPECT_FALSE(op->merge_bytes()) << name;
    EXPECT_FALSE(says_merged(*op)) << name;
    EXPECT_EQ(gpu.pixels, 0) << name;
    EXPECT_TRUE(gpu.said.empty()) << name << ": " << gpu.said[0];
  }
}

/// Nothing is merged, a line says why, and the other kernels stay.
void expect_left(Gpu& gpu, const Taker& taker, const std::string& wrong) {
  const auto backend = gpu.open();
  const auto op = backend->make_conv2d(taker.params());
  EXPECT_FALSE(op->merge_bytes()) << taker.kernel();
  EXPECT_FALSE(op->merge_bytes());
  EXPECT_FALSE(backend->make_conv2d(taker.params())->merge_bytes());
  EXPECT_FALSE(says_merged(*op)) << op->description();
  EXPECT_EQ(gpu.pixels, 1) << "checked again";
  ASSERT_EQ(gpu.said.size(), 1U);
  EXPECT_NE(gpu.said[0].find("own kernel for " + taker.kernel() + " computed wrongly"), std::string::npos)
      << gpu.said[0];
  EXPECT_NE(gpu.said[0].find(wrong), std::string::npos) << gpu.said[0];

  EXPECT_GT(op->sums_rows(), 0U);
  EXPECT_GT(op->end_sums_rows(GradientEndKind::inner), 0U);
  EXPECT_NE(op->description().find("forward with sums by our kernel of "), std::string::npos) << op->description();
  EXPECT_NE(op->description().find("data to the end of a batch norm by our kernel of "), std::string::npos)
      << op->description();
  EXPECT_EQ(gpu.said.size(), 1U);
}

TEST(MergeCheck, LeavesABatchNormWhoseProductsOfPixelsAreWrong) {
  for (const Taker& taker : kTakers) {
    Gpu gpu;
    gpu.spoil_pixels = [](const WrittenPixels& w) { w.partial[5] += 1; };
    expect_left(gpu, taker, "row 0, column 5 of step 0 is ");
  }
}

TEST(MergeCheck, LeavesABatchNormWhoseDataGradientIsWrong) {
  for (const Taker& taker : kTakers) {
    Gpu gpu;
    gpu.spoil = [](const WrittenProduct& w) {
      if (is_merged_gradient(w)) w.sums[9] += 1;
    };
    expect_left(gpu, taker, "the sum of column 9 is ");
  }
}

class MergeChoice : public testing::Test {
 protected:
  MergeChoice() {
    std::string pattern = (fs::temp_directory_path() / "trainyard-plans-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~MergeChoice() override { fs::remove_all(folder_); }

  /// What takes so long apart and merged. The convolution's other kernels stay apart.
  static std::unique_ptr<Conv2dOp> open(Gpu& gpu, Backend& backend, const Conv2dParams& params, double apart,
                                        double merged) {
    gpu.clock.milliseconds.assign(gpu.clock.measured + 16, 1.0);
    auto op = backend.make_conv2d(params);
    gpu.clock.milliseconds.assign(gpu.clock.measured, 1.0);
    gpu.clock.milliseconds.insert(gpu.clock.milliseconds.end(), {apart, merged});
    return op;
  }

  std::string folder_;
};

TEST_F(MergeChoice, IsTheFasterOfBothAndIsKept) {
  for (const Taker& taker : {kTakers[0], kTakers[3]}) {
    for (const bool faster : {false, true}) {
      const std::string folder = folder_ + (faster ? "/merged" : "/apart");
      {
        Gpu gpu;
        gpu.choose_by({}, folder);
        const auto backend = gpu.open();
        const auto op = open(gpu, *backend, taker.params(), 1.0, faster ? 0.9 : 1.1);
        EXPECT_EQ(static_cast<bool>(op->merge_bytes()), faster) << taker.work();
        EXPECT_EQ(says_merged(*op), faster) << op->description();
        EXPECT_EQ(gpu.clock.measured, gpu.clock.milliseconds.size());
        EXPECT_EQ(static_cast<bool>(op->merge_bytes()), faster);
        EXPECT_EQ(static_cast<bool>(backend->make_conv2d(taker.params())->merge_bytes()), faster);
        EXPECT_EQ(gpu.clock.measured, gpu.clock.milliseconds.size()) << "measured again";
        EXPECT_EQ(gpu.pixels, 2) << "once to be checked and once to be measured";
        EXPECT_EQ(gpu.plans->chosen({"A GPU", "cuDNN 9.19.0", taker.work()}), faster ? "merged" : "apart");
      }
      Gpu next;
      next.choose_by({}, folder);
      const auto backend = next.open();
      const auto op = backend->make_conv2d(taker.params());
      EXPECT_EQ(static_cast<bool>(op->merge_bytes()), faster) << taker.work();
      EXPECT_EQ(says_merged(*op), faster) << op->description();
      EXPECT_EQ(next.clock.measured, 0U) << "measured again";
      EXPECT_EQ(next.pixels, faster ? 1 : 0) << "what is taken is checked on each device";
    }
  }
}

TEST_F(MergeChoice, IsMadeForEachShape) {
  Gpu gpu;
  gpu.choose_by({});
  const auto backend = gpu.open();
  EXPECT_TRUE(open(gpu, *backend, convolution(), 1.0, 0.9)->merge_bytes());
  Conv2dParams larger = convolution();
  larger.input.shape.n = 4;
  EXPECT_FALSE(open(gpu, *backend, larger, 1.0, 1.1)->merge_bytes());
  EXPECT_EQ(gpu.clock.measured, gpu.clock.milliseconds.size());
  EXPECT_EQ(gpu.pixels, 3) << "checked once, and measured twice";
}

TEST_F(MergeChoice, MeasuresOurDataGradientOnBothSides) {
  Gpu gpu;
  gpu.choose_by({});
  const auto backend = gpu.open();
  const auto op = open(gpu, *backend, convolution(), 1.0, 0.9);
  std::vector<unsigned> depths;
  gpu.spoil = [&](const WrittenProduct& w) { depths.push_back(w.tiling.inner); };
  EXPECT_TRUE(op->merge_bytes());
  // The check, apart, merged.
  EXPECT_EQ(depths, (std::vector<unsigned>{320, 256, 320}));
}

TEST_F(MergeChoice, IsApartWhereThereIsNoRoomToMeasure) {
  Gpu gpu;
  gpu.choose_by({});
  gpu.clock.has_room = false;
  const auto backend = gpu.open();
  EXPECT_FALSE(backend->make_conv2d(convolution())->merge_bytes());
  EXPECT_EQ(gpu.clock.measured, 0U);
}

TEST_F(MergeChoice, DoesNotMeasureWhatComputesWrongly) {
  Gpu gpu;
  gpu.choose_by({});
  gpu.spoil_pixels = [](const WrittenPixels& w) { w.partial[5] += 1; };
  const auto backend = gpu.open();
  const auto op = open(gpu, *backend, convolution(), 1.0, 0.9);
  const size_t measured = gpu.clock.measured;
  EXPECT_FALSE(op->merge_bytes());
  EXPECT_EQ(gpu.clock.measured, measured);
  EXPECT_EQ(gpu.said.size(), 1U);
}

}  // namespace
}  // namespace trainyard::test
