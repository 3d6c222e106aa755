// What a node does whose head is gone: its ranks end, its `agent join` counts as left over, and
// leaves by itself.
#include <signal.h>

#include <filesystem>

#include "agent/connection/join_port.h"
#include "common/error.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

using LostHeadTest = ClusterTest;

constexpr double kMargin = 8;  // seconds beyond the 20 that the contract names, for a loaded machine

TEST_F(LostHeadTest, RanksEndAndTheJoinIsFoundAsLeftOver) {
  const std::string dir = start_spread(spread_script("trap '' TERM; sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const std::string there = second(dir);
  const auto supervisor = recorded_supervisor(state(dir));
  const Json workdir{{"workdir", folder_.file("second")}};
  ASSERT_TRUE(signal_process(*supervisor, SIGSTOP));  // connected, and silent
  EXPECT_TRUE(eventually([&] { return processes(there).empty(); }, 20 + kMargin)) << "ranks of a lost head are left";
  EXPECT_TRUE(eventually([&] { return read_join_record(RunFolder(there), "gpu2")->state == "alone"; }, kMargin));
  const Json listed = client_->call("leftovers.list", workdir);
  ASSERT_EQ(listed["runs"].size(), 1U);
  EXPECT_EQ(listed["runs"][0]["supervised"], false);
  EXPECT_EQ(listed["runs"][0]["processes"][0]["what"], "join");
  Json kill = workdir;
  kill["all"] = false;
  EXPECT_EQ(client_->call("leftovers.kill", kill)["killed"].size(), 1U);
  EXPECT_EQ(second_join(dir).pid, 0);
  ASSERT_TRUE(signal_process(*supervisor, SIGKILL));  // its guard ends the rest
}

TEST_F(LostHeadTest, AJoinWhoseRunIsOverLeaves) {
  const std::string dir = start_spread(spread_script("trap '' TERM; sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const auto supervisor = recorded_supervisor(state(dir));
  const ProcessId join = second_join(dir);
  ASSERT_NE(join.pid, 0);
  ASSERT_TRUE(signal_process(*supervisor, SIGKILL));
  EXPECT_TRUE(eventually([&] { return !is_alive(join); }, 20 + kMargin + kMargin)) << "agent join outlives its run";
  EXPECT_NE(text(second(dir) + "/nodes/gpu2/join.log").find("the run is over"), std::string::npos);
}

TEST_F(LostHeadTest, AJoinLeavesWhenAnotherRunTakesThePort) {
  const std::string dir = start_spread(spread_script("trap '' TERM; sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const ProcessId join = second_join(dir);
  ASSERT_NE(join.pid, 0);
  const int port = client_->call("run.joining", {{"dir", dir}})["port"].get<int>();
  ASSERT_TRUE(signal_process(*recorded_supervisor(state(dir)), SIGKILL));
  std::optional<JoinPort> other;
  ASSERT_TRUE(eventually(
      [&] {
        try {
          other.emplace("127.0.0.2", port, port, std::string(64, 'c'));
          return true;
        } catch (const Error&) {  // the one that was killed still has it
          return false;
        }
      },
      kMargin));
  const auto gone = [&] {
    for (const auto& stranger : other->step()) ADD_FAILURE() << "admitted with another key: " << stranger->host();
    return !is_alive(join);
  };
  EXPECT_TRUE(eventually(gone, 20 + kMargin + kMargin)) << "agent join outlives its run";
  EXPECT_NE(text(second(dir) + "/nodes/gpu2/join.log").find("another run listens there"), std::string::npos);
}

TEST_F(LostHeadTest, AJoinWhoseFolderWasDeletedLeaves) {
  const std::string dir = start_spread(spread_script("trap '' TERM; sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const auto supervisor = recorded_supervisor(state(dir));
  const ProcessId join = second_join(dir);
  ASSERT_TRUE(signal_process(*supervisor, SIGKILL));
  std::filesystem::remove(second(dir) + "/nodes/gpu2/join.json");
  EXPECT_TRUE(eventually([&] { return !is_alive(join); }, 15));
}

}  // namespace
}  // namespace trainyard::test
