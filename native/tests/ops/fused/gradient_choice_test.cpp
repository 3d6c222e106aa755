// The kernels of data gradients to their end: their check, and which tiling a convolution takes. The
// kernels are those of host_pointwise.cpp, loops on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/fused/measured_gpu.h"
#include "trainer/ops/cuda/pointwise_convolution.h"

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
      EXPECT_EQ(gpu.launches.begin()->second, 1) << "checked again";
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

TEST(GradientCheck, LeavesAGradientWithoutAKernelThatComputesWrongly) {
  const auto sums = [](const WrittenProduct& w, size_t kind) {
    return w.sums + kind * w.tiling.sums_rows(w.shape, w.processors) * w.shape.columns;
  };
  const std::vector<Fault> faults{
      {"what does not pass is not zero",
       [](const WrittenProduct& w) {
         for (size_t i = 0; i < size_t{w.shape.rows} * w.shape.columns; ++i) {
           if (static_cast<float>(w.d[i]) == 0) w.d[i] = static_cast<BFloat16>(1.0F);
         }
       },
       "row "},
      {"another gradient is not added in the last row",
       [](const WrittenProduct& w) {
         for (size_t i = size_t{w.shape.rows - 1} * w.shape.columns; i < size_t{w.shape.rows} * w.shape.columns; ++i) {
           if (static_cast<float>(w.d[i]) != 0) w.d[i] = static_cast<BFloat16>(static_cast<float>(w.d[i]) + 0.75F);
         }
       },
       "row "},
      {"a sum", [&](const WrittenProduct& w) { sums(w, 0)[9] += 1; }, "the sum of column 9 is "},
      {"a sum of products", [&](const WrittenProduct& w) { sums(w, 1)[9] += 1; },
       "the sum of products with input 1 of column 9 is "},
      {"one of the projection's", [&](const WrittenProduct& w) { sums(w, 2)[9] += 1; },
       "the sum of products with input 2 of column 9 is "},
      {"sums behind the end", [&](const WrittenProduct& w) { sums(w, 3)[0] = 1; }, "behind the end"},
  };
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
