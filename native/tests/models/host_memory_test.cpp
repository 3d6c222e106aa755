// A batch that does not fit the host's memory is found before the memory is asked for.
#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/models/support.h"
#include "trainer/base/spare_memory.h"

namespace trainyard {
namespace {

constexpr int kClasses = 3;
constexpr uint64_t kMiB = uint64_t{1} << 20U;

/// resnet20 on a host with so much memory free; its words, where it refuses.
struct Attempt {
  std::unique_ptr<Network> network;
  std::string refusal;

  Attempt(uint64_t free, int batch, int ranks = 1, bool micro_batches = false) {
    NetworkOptions options{.model = "resnet20", .classes = kClasses, .image_size = 32, .batch = batch};
    options.host_ranks = ranks;
    options.micro_batches = micro_batches;
    options.free_memory = [free] { return free; };
    try {
      network = make_network(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::device);
      refusal = error.what();
    }
  }

  int named_batch() const {
    const std::string before = "Use --batch-size ";
    const size_t at = refusal.find(before);
    return at == std::string::npos ? 0 : std::stoi(refusal.substr(at + before.size()));
  }
};

TEST(HostMemory, NamesTheBatchThatFits) {
  const Attempt large(100 * kMiB, 512);
  EXPECT_NE(large.refusal.find("out of memory: a batch of 512 needs "), std::string::npos) << large.refusal;
  EXPECT_NE(large.refusal.find(" of 100 MiB that are free on this host. "), std::string::npos) << large.refusal;
  const int fits = large.named_batch();
  ASSERT_GT(fits, 1) << large.refusal;
  ASSERT_LT(fits, 512);
  EXPECT_NE(Attempt(100 * kMiB, fits + 1).refusal, "") << "it was not the largest";
  const Attempt named(100 * kMiB, fits);
  ASSERT_EQ(named.refusal, "");
  const test::RandomBatch batch(fits, 32, kClasses, 3);
  EXPECT_GT(named.network->train_step(batch.view(), 1.0F, nullptr).loss_sum, 0);
  EXPECT_LT(named.network->memory_bytes(), 100 * kMiB);
}

TEST(HostMemory, IsSharedByTheRanksOfAHost) {
  const Attempt four(400 * kMiB, 512, 4);
  EXPECT_NE(four.refusal.find(" of 400 MiB that are free on this host, shared by 4 ranks. "), std::string::npos)
      << four.refusal;
  EXPECT_EQ(four.named_batch(), Attempt(100 * kMiB, 512).named_batch());
}

TEST(HostMemory, IsAskedForWhatMicroBatchesAreAddedUpInToo) {
  const int alone = Attempt(100 * kMiB, 512).named_batch();
  const uint64_t gradients = Attempt(kUnknownMemory, 1).network->gradients().size_bytes();
  const int added_up = Attempt(100 * kMiB + gradients, 512, 1, true).named_batch();
  EXPECT_EQ(added_up, alone);
  EXPECT_LT(Attempt(100 * kMiB, 512, 1, true).named_batch(), alone);
}

TEST(HostMemory, IsNotEnoughForOneImage) {
  EXPECT_NE(Attempt(10 * kMiB, 8).refusal.find("Not even one image fits"), std::string::npos);
}

TEST(HostMemory, IsNotGuessedAt) { EXPECT_EQ(Attempt(kUnknownMemory, 512).refusal, ""); }

}  // namespace
}  // namespace trainyard
