// --comm: where gradients are summed, and what is said where that cannot be.
#include "trainer/strategies/gradient_sums.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace trainyard {
namespace {

const std::vector<std::string> kApart{"a 0000:17:00", "a 0000:65:00", "b 0000:17:00"};
const std::vector<std::string> kShared{"a 0000:17:00", "b 0000:17:00", "b 0000:17:00"};

GradientSums on_gpus(const std::string& comm) { return {.comm = comm, .device = "cuda", .gpu = ""}; }

std::string refusal(const GradientSums& wanted, const std::string& strategy, const std::vector<std::string>& gpus) {
  try {
    use_nccl(wanted, strategy, gpus);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
    return error.what();
  }
  return "";
}

TEST(GradientSumsByDefault, AreNcclsWhereEveryRankHasItsGpu) {
  EXPECT_TRUE(use_nccl(on_gpus("auto"), "mirrored", kApart));
  EXPECT_TRUE(use_nccl(on_gpus("auto"), "multi-worker", kApart));
  EXPECT_FALSE(use_nccl(on_gpus("auto"), "multi-worker", kShared));
  EXPECT_FALSE(use_nccl(on_gpus("auto"), "central-storage", kApart));
  EXPECT_FALSE(use_nccl(on_gpus("auto"), "parameter-server", kApart));
  EXPECT_FALSE(use_nccl(on_gpus("auto"), "mirrored", {"a 0000:17:00"}));
  EXPECT_FALSE(use_nccl({.comm = "auto", .device = "cpu", .gpu = ""}, "mirrored", {"a ", "a "}));
}

TEST(GradientSumsByMpi, MayShareAGpu) {
  EXPECT_FALSE(use_nccl(on_gpus("mpi"), "mirrored", kApart));
  EXPECT_FALSE(use_nccl(on_gpus("mpi"), "mirrored", kShared));
}

TEST(GradientSumsByNccl, AreThoseOfSeveralRanks) {
  EXPECT_TRUE(use_nccl(on_gpus("nccl"), "mirrored", kApart));
  EXPECT_FALSE(use_nccl(on_gpus("nccl"), "mirrored", {"a 0000:17:00"}));
}

TEST(GradientSumsByNccl, AreRefusedWithTheReason) {
  EXPECT_NE(refusal({.comm = "nccl", .device = "cpu", .gpu = ""}, "mirrored", kApart).find("--device cpu has none"),
            std::string::npos);
  const std::string shared = refusal(on_gpus("nccl"), "multi-worker", kShared);
  EXPECT_NE(shared.find("ranks 1 and 2 on b share the GPU at 0000:17:00"), std::string::npos) << shared;
  EXPECT_NE(refusal(on_gpus("nccl"), "parameter-server", kApart).find("--strategy parameter-server"),
            std::string::npos);
}

TEST(GradientSumsByNccl, HaveTheAlgorithmThatIsAskedFor) {
  EXPECT_EQ(nccl_algorithm("auto"), "");
  EXPECT_EQ(nccl_algorithm("ring"), "Ring");
  EXPECT_EQ(nccl_algorithm("tree"), "Tree");
  EXPECT_EQ(nccl_algorithm("hierarchical"), "Tree");
}

}  // namespace
}  // namespace trainyard
