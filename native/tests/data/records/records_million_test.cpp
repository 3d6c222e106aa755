// A million records take little memory: the index of one, walked through by a process of its own
// whose peak is read.
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "common/files.h"
#include "common/record_frame.h"
#include "records_support.h"
#include "trainer/data/order.h"

namespace trainyard {
namespace {

constexpr int kRecords = 1'000'000;
constexpr int kShards = 4;
constexpr const char* kFolder = "TRAINYARD_MILLION_RECORDS";
// A sanitizer's own memory counts in the peak: beside one, only what was read is looked at.
constexpr bool kOwnMemoryOnly = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
constexpr int64_t kMostMemory = 64;  // MB: 16 of index, 4 of an epoch's order, the program itself

void write_shards(const TemporaryFolder& folder) {
  for (int shard = 0; shard < kShards; ++shard) {
    const std::string name = "train-0000" + std::to_string(shard) + "-of-0000" + std::to_string(kShards);
    std::ofstream file(folder.path() + "/" + name, std::ios::binary);
    for (int i = shard; i < kRecords; i += kShards) {
      const std::string label =
          feature("image/class/label", 3, bytes_field(1, varint(static_cast<uint64_t>(i % 1000))));
      const std::string image = feature("image/encoded", 1, bytes_field(1, "image " + std::to_string(i)));
      file << framed_record(example(label + image));
    }
  }
}

/// The most memory that this process has had since it was exec'ed (wait4's figure has its parent's
/// in it).
int64_t peak_megabytes() {
  const std::string status = read_file("/proc/self/status");
  return std::atoll(status.c_str() + status.find("VmHWM:") + 6) / 1024;
}

/// Runs in a process of its own, started by the test below.
TEST(MillionRecords, DISABLED_are_opened_and_ordered) {
  const char* folder = std::getenv(kFolder);
  ASSERT_NE(folder, nullptr);
  const auto data = open_records_at(folder);
  ASSERT_EQ(data->size(), static_cast<size_t>(kRecords));
  EXPECT_EQ(data->class_names().size(), 1000U);
  LoaderOptions options;
  Order order(data->size(), options);
  const Part part = order.part(order.steps_per_epoch() - 1);
  for (int i = 0; i < part.count; ++i) {
    const size_t index = part.index(i, 0);
    const auto number = static_cast<int>(index % (kRecords / kShards) * kShards + index / (kRecords / kShards));
    EXPECT_EQ(data->label(index), number % 1000);
    EXPECT_EQ(data->encoded(index), "image " + std::to_string(number));
  }
  const int64_t peak = peak_megabytes();
  std::printf("peak memory with %d records: %lld MB\n", kRecords, static_cast<long long>(peak));
  if (kOwnMemoryOnly) EXPECT_LT(peak, kMostMemory);
  EXPECT_GT(peak, 20);  // else nothing was indexed and ordered
}

TEST(MillionRecords, take_bounded_memory) {
  const TemporaryFolder folder;
  write_shards(folder);
  ::setenv(kFolder, folder.path().c_str(), 1);
  std::string self = "/proc/self/exe";
  std::string filter = "--gtest_filter=MillionRecords.DISABLED_are_opened_and_ordered";
  std::string also = "--gtest_also_run_disabled_tests";
  const std::array<char*, 4> words{self.data(), filter.data(), also.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, self.c_str(), nullptr, nullptr, words.data(), environ), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::unsetenv(kFolder);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace trainyard
