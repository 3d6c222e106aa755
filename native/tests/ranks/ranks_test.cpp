// Training in the memory of several ranks' devices: what device_ranks does under the real mpiexec.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace trainyard {
namespace {

/// What it printed, and how it ended.
void run(const std::string& scenario, int ranks) {
  const std::string command = std::string("timeout 60 '") + TRAINYARD_MPIEXEC + "' -launcher fork -n " +
                              std::to_string(ranks) + " '" + TRAINYARD_DEVICE_RANKS + "' " + scenario + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> part{};
  for (size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << scenario << " on " << ranks << " ranks\n" << text;
}

class DeviceRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Worlds, DeviceRanks, testing::Values(1, 2, 4));

TEST_P(DeviceRanks, SumInOrderWhatTheHostsWouldSum) { run("mlp-sgd", GetParam()); }
TEST_P(DeviceRanks, SumStatisticsWithoutTheHost) { run("statistics", GetParam()); }
TEST_P(DeviceRanks, TellRankZeroOfTheirSteps) { run("figures", GetParam()); }
TEST_P(DeviceRanks, TrainAsByMpi) { run("resnet20-adam", GetParam()); }

TEST(DeviceRanksOfTwo, TrainByOtherOptimizers) {
  for (const char* scenario : {"resnet20-sgd", "resnet20-lars", "resnet20-adamw"}) run(scenario, 2);
}
TEST(DeviceRanksOfTwo, AddUpMicroBatchesFirst) { run("micro", 2); }
TEST(DeviceRanksOfThree, SendHalfTheBytesAsBf16) { run("narrow", 3); }
TEST(DeviceRanksOfTwo, WaitForTheDeviceOnceAStep) { run("waits", 2); }
TEST(DeviceRanksOfTwo, LeaveOutAStepWhoseScaledGradientsAreNotFinite) { run("scaled", 2); }
TEST(DeviceRanksOfTwo, KeepVariablesOnRankZeroThroughTheHost) { run("central", 2); }
TEST(DeviceRanksOfTwo, AskAServerForTheirVariables) { run("served", 3); }
TEST(DeviceRanksOfTwo, AskAServerAloneWithoutWaiting) { run("served-async", 2); }
TEST(DeviceRanksOfTwo, DoNotWaitForEver) { run("late", 2); }
TEST(DeviceRanksOfTwo, HearOfOneThatLeaves) { run("leaves", 2); }

}  // namespace
}  // namespace trainyard
