// bf16 beside fp32, and the precisions that are refused.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "common/error.h"
#include "tests/models/support.h"

namespace trainyard {
namespace {

TEST(BFloat16Numbers, AreTheNearest) {
  const auto rounded = [](float value) { return static_cast<float>(BFloat16(value)); };
  EXPECT_EQ(rounded(1.0F), 1.0F);
  EXPECT_EQ(rounded(1.0F + 0x1p-8F), 1.0F) << "halfway, to even";
  EXPECT_EQ(rounded(1.0F + 0x3p-8F), 1.0F + 0x4p-8F) << "halfway, to even";
  EXPECT_EQ(rounded(1.0F + 0x1.1p-8F), 1.0F + 0x1p-7F);
  EXPECT_EQ(rounded(-3.0F - 0x1p-9F), -3.0F);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7F800001U)))) << "the lower half alone says so";
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7FFFFFFFU))));
}

TEST(Float16Numbers, AreTheNearest) {
  const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(Float16(float(value)))); };
  const auto bits = [](float value) { return int{Float16(value).bits}; };
  for (const double same : {0.0, 1.0, -2.5, 65504.0, 0x1p-14, 0x1p-24, 0x3ffp-24, 0x1.ff8p-15, 0x1.004p3}) {
    EXPECT_EQ(rounded(same), same);
    EXPECT_EQ(rounded(-same), -same);
  }
  EXPECT_EQ(bits(-0.0F), 0x8000);
  EXPECT_EQ(bits(1.0F), 0x3C00);
  EXPECT_EQ(bits(0x1p-24F), 1);
  EXPECT_EQ(rounded(1 + 0x1p-11), 1.0) << "halfway, to even";
  EXPECT_EQ(rounded(1 + 0x3p-11), 1 + 0x4p-11) << "halfway, to even";
  EXPECT_EQ(rounded(1 + 0x1.1p-11), 1 + 0x1p-10);
  EXPECT_EQ(rounded(0x1p-25), 0.0) << "halfway, to even";
  EXPECT_EQ(rounded(0x1.1p-25), 0x1p-24);
  EXPECT_EQ(rounded(0x3p-25), 0x1p-23) << "halfway, to even";
  EXPECT_EQ(rounded(65519.99), 65504.0);
  EXPECT_EQ(rounded(65520.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(rounded(-1e30), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(rounded(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(rounded(std::nan(""))));
}

TEST(Float16Numbers, ComeBackAsTheyWere) {
  for (int bits = 0; bits < 65536; ++bits) {
    Float16 number;
    number.bits = static_cast<uint16_t>(bits);
    const auto wide = static_cast<float>(number);
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    if (exponent < 31) {
      const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(wide, bits < 32768 ? size : -size) << bits;
    }
    if (std::isnan(wide)) {
      ASSERT_TRUE(exponent == 31 && fraction > 0) << bits;
    } else {
      ASSERT_EQ(Float16(wide).bits, number.bits);
    }
  }
}

TEST(Precision, OfBFloat16TakesLessMemoryAndErrsMore) {
  if (!test::has_avx512()) GTEST_SKIP() << test::kNeedsAvx512;
  constexpr int kClasses = 5;
  const test::RandomBatch batch(16, 32, kClasses, 4);
  for (const char* model : {"resnet20", "mlp"}) {
    const auto wide = test::network(model, kClasses, 32, batch.count);
    const auto narrow = test::network(model, kClasses, 32, batch.count, 1, Precision::bf16);
    ASSERT_TRUE(std::equal(wide->weights().begin(), wide->weights().end(), narrow->weights().begin()));
    const size_t fixed = 2 * wide->weights().size_bytes();  // weights and gradients stay fp32
    if (std::string(model) == "resnet20") {
      EXPECT_LT(static_cast<double>(narrow->memory_bytes() - fixed),
                0.6 * static_cast<double>(wide->memory_bytes() - fixed));
    }
    std::vector<float> exact(16UL * kClasses), near(exact.size());
    wide->evaluate(batch.view(), exact);
    narrow->evaluate(batch.view(), near);
    double squares = 0, length = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      squares += std::pow(exact[i] - near[i], 2);
      length += std::pow(exact[i], 2);
    }
    EXPECT_LT(std::sqrt(squares / length), 0.05) << model;
    EXPECT_GT(std::sqrt(squares / length), 1e-4) << model << " does not compute in bf16";
  }
}

TEST(Precision, OfBFloat16GivesTheSameBitsEachTime) {
  if (!test::has_avx512()) GTEST_SKIP() << test::kNeedsAvx512;
  const test::RandomBatch batch(4, 32, 3, 9);
  const auto first = test::network("resnet20", 3, 32, 4, 1, Precision::bf16);
  const auto second = test::network("resnet20", 3, 32, 4, 1, Precision::bf16);
  for (int step = 0; step < 3; ++step) {
    for (Network* net : {first.get(), second.get()}) {
      net->train_step(batch.view(), 0.25F, nullptr);
      test::descend(*net, 0.05F);
    }
  }
  EXPECT_TRUE(std::equal(first->weights().begin(), first->weights().end(), second->weights().begin()));
}

TEST(Precision, IsRefusedWhereItDoesNotWork) {
  const auto refusal = [](Precision precision, const char* device) {
    try {
      require_precision(precision, device);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::device);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(Precision::fp32, "cpu"), "");
  EXPECT_EQ(refusal(Precision::fp32, "cuda"), "");
  EXPECT_NE(refusal(Precision::fp16, "cpu").find("--precision fp16 is for GPUs"), std::string::npos);
  EXPECT_NE(refusal(Precision::tf32, "cpu").find("--precision tf32 is for GPUs"), std::string::npos);
  for (const Precision any : {Precision::tf32, Precision::bf16, Precision::fp16}) EXPECT_EQ(refusal(any, "cuda"), "");
  EXPECT_THROW(parse_precision("fp8"), Error);
  for (const std::string& name : precision_names()) EXPECT_EQ(precision_name(parse_precision(name)), name);
}

TEST(Precision, OfAnOlderGpuIsFp16) {
  const auto refusal = [](Precision precision, int capability_major) {
    try {
      require_gpu_precision(precision, "Tesla V100-SXM2-32GB", capability_major);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::device);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(Precision::bf16, 7),
            "--precision bf16 needs a GPU of compute capability 8.0 (Ampere) or newer, and Tesla V100-SXM2-32GB has "
            "7.x. Use --precision fp16, or fp32");
  EXPECT_NE(refusal(Precision::tf32, 7), "");
  EXPECT_EQ(refusal(Precision::fp16, 7), "");
  EXPECT_EQ(refusal(Precision::fp32, 7), "");
  for (const Precision any : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
    EXPECT_EQ(refusal(any, 8), "");
    EXPECT_EQ(refusal(any, 10), "");
  }
}

}  // namespace
}  // namespace trainyard
