// A node of a run that is under way joins once more: what `run.join` with `again` does, and what it
// leaves alone.
#include <signal.h>

#include <filesystem>

#include "agent/messages/rpc_error.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

constexpr double kLostSeconds = 20 + 15;  // until a node without a connection is lost

class JoinAgainTest : public ClusterTest {
 protected:
  Json again_params(const std::string& dir) const {
    Json params = join_params(dir, "127.0.0.2");
    params["again"] = true;
    return params;
  }
};

TEST_F(JoinAgainTest, TwoClientsAtOnceMakeOneJoinThatTakesPartInTheRestart) {
  Json spec = spread_script("[ $TRAINYARD_GENERATION = 1 ] || exit 0; sleep 300");
  spec["limits"]["maxRestarts"] = 1;
  spec["limits"]["nodeReturnTimeout"] = 60;
  spec["minNodes"] = 2;
  const std::string dir = start_spread(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const ProcessId join = second_join(dir);
  ASSERT_NE(join.pid, 0);
  ASSERT_TRUE(signal_process(join, SIGKILL));  // its guard ends its ranks
  ASSERT_TRUE(eventually([&] { return !events(dir, "node_lost").empty(); }, kLostSeconds));
  Client other;
  const std::string request =
      to_line({{"jsonrpc", "2.0"}, {"id", 4711}, {"method", "run.join"}, {"params", again_params(dir)}}) + "\n";
  client_->send_raw(request);
  other.send_raw(request);
  int joined = 0;
  for (const Json& answer : {client_->next_answer(60), other.next_answer(60)}) joined += answer.contains("result");
  EXPECT_GE(joined, 1);
  const Json last = ended(dir, 60);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
  EXPECT_EQ(last["world"], 4);
  EXPECT_EQ(events(dir, "node_joined").size(), 3U);  // both at first, then the second one once
}

TEST_F(JoinAgainTest, AJoinThatLivesIsLeftAlone) {
  const std::string dir = start_spread(spread_script("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const ProcessId join = second_join(dir);
  ASSERT_NE(join.pid, 0);
  Json params = again_params(dir);
  EXPECT_EQ(client_->error("run.join", params)["code"], static_cast<int>(RpcCode::bad_state));
  params["key"] = std::string(64, 'a');  // what a client heard before the run was started anew
  EXPECT_EQ(client_->error("run.join", params)["code"], static_cast<int>(RpcCode::bad_state));
  EXPECT_EQ(second_join(dir).pid, join.pid);
  EXPECT_TRUE(is_alive(join));
  EXPECT_EQ(state(dir)["phase"], "running");
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "test"}});
  EXPECT_EQ(ended(dir)["phase"], "stopped");
}

TEST_F(JoinAgainTest, ANodeWithoutTheRunsFolderGetsNone) {
  const std::string dir = start_spread(spread_script("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  Json params = again_params(dir);
  params["workdir"] = folder_.file("elsewhere");  // its disk is another one
  EXPECT_EQ(client_->error("run.join", params)["code"], static_cast<int>(RpcCode::not_found));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("elsewhere")));
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "test"}});
  EXPECT_EQ(ended(dir)["phase"], "stopped");
}

}  // namespace
}  // namespace trainyard::test
