// The kernels of data gradients to their end: their check, and which tiling a convolution takes. The
// kernels are those of host_pointwise.cpp, loops on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/fused/measured_gpu.h"
#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/fused/pointwise_check.h"

namespace trainyard::test {
namespace {

/// The convolution whose data gradient has so many channels, from `out` ones.
Conv2dParams convolution(int in, int out, DType stored = DType::bf16) {
  Conv2dParams p;
  p.input = {{2, in, 9, 9}, Layout::nhwc, stored};
  p.out_channels = out;
  return p;
}

struct Product {
  int in, out;
  GradientEndKind kind;
  const char* name;  ///< of the end
};
const std::vector<Product> kProducts{
    {64, 256, GradientEndKind::inner, "a batch norm"},
    {128, 512, GradientEndKind::inner, "a batch norm"},
    {256, 64, GradientEndKind::block, "a block"},
    {128, 64, GradientEndKind::block, "a block"},
    {256, 128, GradientEndKind::block, "a block"},
    {128, 128, GradientEndKind::block, "a block"},
    {128, 256, GradientEndKind::block, "a block"},
    {128, 512, GradientEndKind::block, "a block"},
    {64, 64, GradientEndKind::pair, "a block with projection"},
    {64, 128, GradientEndKind::pair, "a block with projection"},
    {64, 256, GradientEndKind::pair, "a block with projection"},
    {64, 512, GradientEndKind::pair, "a block with projection"},
    {256, 64, GradientEndKind::mask, "a block whose batch norm is merged"},
    {128, 512, GradientEndKind::mask, "a block whose batch norm is merged"},
};

TEST(GradientCheck, PassesEveryTilingThatComputesRightly) {
  for (const DType stored : {DType::bf16, DType::f16}) {
    for (const Product& product : kProducts) {
      Gpu gpu;
      const auto backend = gpu.open();
      const auto op = backend->make_conv2d(convolution(product.in, product.out, stored));
      gpu.launches.clear();
      EXPECT_GT(op->end_sums_rows(product.kind), 0U) << product.in << " from " << product.out;
      EXPECT_GT(op->end_sums_rows(product.kind), 0U);
      EXPECT_EQ(gpu.launches.size(), 1U);
      // Where the batch norm is merged, first as of a block.
      EXPECT_EQ(gpu.launches.begin()->second, product.kind == GradientEndKind::mask ? 2 : 1) << "checked again";
      EXPECT_TRUE(gpu.said.empty()) << gpu.said[0];
      const std::string wanted = std::string("data to the end of ") + product.name + " by our kernel of ";
      EXPECT_NE(op->description().find(wanted), std::string::npos) << op->description();
    }
  }
}

/// What a kernel may do wrong, and what the line says of it.
struct Fault {
  const char* name;
  Spoil spoil;
  const char* said;
};

float* sums(const WrittenProduct& w, size_t kind) {
  return w.sums + kind * w.tiling.sums_rows(w.shape, w.processors) * w.shape.columns;
}

/// Of every end that reads a batch norm's input.
std::vector<Fault> faults_of_ends() {
  return {
      {"what does not pass is not zero",
       [](const WrittenProduct& w) {
         for (size_t i = 0; i < size_t{w.shape.rows} * w.shape.columns; ++i) {
           if (static_cast<float>(w.d[i]) == 0) w.d[i] = static_cast<BFloat16>(1.0F);
         }
       },
       "row "},
      {"what is to be added is not in the last row",
       [](const WrittenProduct& w) {
         for (size_t i = size_t{w.shape.rows - 1} * w.shape.columns; i < size_t{w.shape.rows} * w.shape.columns; ++i) {
           if (static_cast<float>(w.d[i]) != 0) w.d[i] = static_cast<BFloat16>(static_cast<float>(w.d[i]) + 0.75F);
         }
       },
       "row "},
      {"a sum", [](const WrittenProduct& w) { sums(w, 0)[9] += 1; }, "the sum of column 9 is "},
      {"a sum of products", [](const WrittenProduct& w) { sums(w, 1)[9] += 1; },
       "the sum of products with input 1 of column 9 is "},
  };
}

TEST(GradientCheck, LeavesAGradientWithoutAKernelThatComputesWrongly) {
  std::vector<Fault> faults = faults_of_ends();
  const std::vector<Fault> of_pairs{
      {"one of the projection's", [](const WrittenProduct& w) { sums(w, 2)[9] += 1; },
       "the sum of products with input 2 of column 9 is "},
      {"sums behind the end", [](const WrittenProduct& w) { sums(w, 3)[0] = 1; }, "behind the end"},
  };
  faults.insert(faults.end(), of_pairs.begin(), of_pairs.end());
  for (const Fault& fault : faults) {
    Gpu gpu;
    gpu.spoil = fault.spoil;
    const auto backend = gpu.open();
    // 192 channels in: no kernel of outputs with sums takes them.
    const auto op = backend->make_conv2d(convolution(192, 256));
    EXPECT_EQ(op->end_sums_rows(GradientEndKind::pair), 0U) << fault.name;
    ASSERT_EQ(gpu.said.size(), 1U) << fault.name;
    EXPECT_NE(gpu.said[0].find(fault.said), std::string::npos) << fault.name << ": " << gpu.said[0];
    EXPECT_NE(gpu.said[0].find("to the end of a block with projection (256 channels in, tiles of 128x64)"),
              std::string::npos)
        << gpu.said[0];
  }
}

TEST(GradientCheck, LeavesAMergedBlockWithoutAKernelThatComputesWrongly) {
  // Which of the checks finds a wrong sum: that of a block or that of its batch norm merged.
  for (const int wrong : {1, 2}) {
    Gpu gpu;
    const auto backend = gpu.open();
    const auto op = backend->make_conv2d(convolution(256, 64));
    int checks = 0;
    gpu.spoil = [&](const WrittenProduct& w) {
      if (++checks == wrong) sums(w, 0)[9] += 1;
    };
    EXPECT_EQ(op->end_sums_rows(GradientEndKind::mask), 0U);
    EXPECT_EQ(checks, wrong);
    EXPECT_EQ(op->end_sums_rows(GradientEndKind::block) > 0, wrong == 2);
    EXPECT_EQ(checks, wrong) << "checked again";
    ASSERT_EQ(gpu.said.size(), 1U);
    EXPECT_NE(gpu.said[0].find("the sum of column 9 is "), std::string::npos) << gpu.said[0];
    const std::string end = wrong == 1 ? "a block" : "a block whose batch norm is merged";
    EXPECT_NE(gpu.said[0].find("to the end of " + end + " (64 channels in, tiles of 64x256)"), std::string::npos)
        << gpu.said[0];
  }
}

TEST(MergedGradientCheck, PassesEveryTilingThatComputesRightly) {
  for (const bool fp16 : {false, true}) {
    for (const cuda::PointwiseTiling& tiling : cuda::kMergedGradientTilings) {
      Gpu gpu;
      const auto backend = gpu.open();
      EXPECT_EQ(cuda::check_merged_gradient(*gpu.device, tiling, fp16), "") << tiling.inner;
      EXPECT_EQ(gpu.launches, (std::map<std::string, int>{{"128x64", 1}}));
    }
  }
}

TEST(MergedGradientCheck, FindsWhatIsWrong) {
  std::vector<Fault> faults = faults_of_ends();
  faults.push_back({"sums behind the end", [](const WrittenProduct& w) { sums(w, 2)[0] = 1; }, "behind the end"});
  for (const Fault& fault : faults) {
    Gpu gpu;
    gpu.spoil = fault.spoil;
    const auto backend = gpu.open();
    const std::string wrong = cuda::check_merged_gradient(*gpu.device, cuda::kMergedGradientTilings[0], false);
    EXPECT_NE(wrong.find(fault.said), std::string::npos) << fault.name << ": " << wrong;
  }
}

TEST(GradientChoice, OfAMergedBlockIsThatOfABlock) {
  for (const bool faster : {false, true}) {
    Gpu gpu;
    gpu.choose_by({});
    const auto backend = gpu.open();
    gpu.clock.milliseconds.assign(16, 1.0);
    const auto op = backend->make_conv2d(convolution(256, 64));
    gpu.clock.milliseconds.assign(gpu.clock.measured + 1, 1.0);
    // 64x256, then 128x128.
    gpu.clock.milliseconds.insert(gpu.clock.milliseconds.end(), {1.5, faster ? 0.9 : 1.2});
    const unsigned rows = op->end_sums_rows(GradientEndKind::mask);
    EXPECT_EQ(rows > 0, faster);
    EXPECT_EQ(gpu.clock.measured, gpu.clock.milliseconds.size());
    EXPECT_EQ(op->end_sums_rows(GradientEndKind::block), rows);
    EXPECT_EQ(gpu.clock.measured, gpu.clock.milliseconds.size()) << "measured again";
    for (const std::string end : {"a block", "a block whose batch norm is merged"}) {
      EXPECT_EQ(op->description().find("data to the end of " + end + " by our kernel of 128x128") != std::string::npos,
                faster)
          << op->description();
    }
  }
}

TEST(GradientChoice, IsTheFasterOfTheKernelAndOfTheOpsApart) {
  for (const Product& product : {kProducts[0], kProducts[2], kProducts[8]}) {
    for (const bool faster : {false, true}) {
      Gpu gpu;
      // Of the outputs and their sums too, where tilings take them: these stay apart.
      gpu.choose_by({});
      const auto backend = gpu.open();
      const Conv2dParams p = convolution(product.in, product.out);
      gpu.clock.milliseconds.assign(16, 1.0);
      const auto op = backend->make_conv2d(p);
      gpu.clock.milliseconds.assign(gpu.clock.measured, 1.0);
      gpu.clock.milliseconds.push_back(1.0);
      for (int tiling = 0; tiling < 3; ++tiling) gpu.clock.milliseconds.push_back(faster ? 0.9 : 0.99);
      EXPECT_EQ(op->end_sums_rows(product.kind) > 0, faster) << product.in << " from " << product.out;
      const size_t measured = gpu.clock.measured;
      EXPECT_EQ(backend->make_conv2d(p)->end_sums_rows(product.kind) > 0, faster);
      EXPECT_EQ(gpu.clock.measured, measured) << "measured again";
      const std::string work = std::string("data gradient to the end of ") + product.name + ", 2x" +
                               std::to_string(product.in) + "x9x9 to " + std::to_string(product.out) +
                               " by 1x1, bf16, kernels 1";
      EXPECT_EQ(gpu.plans->chosen({"A GPU", "cuDNN 9.19.0", work}).starts_with("fused"), faster) << work;
    }
  }
}

}  // namespace
}  // namespace trainyard::test
