// Runs that span several hosts, with the real mpiexec and a real `agent join` on each node.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/files.h"
#include "tests/agent/support/cluster_fixture.h"
#include "tests/agent/support/relay.h"

namespace trainyard::test {
namespace {

/// Beats once, ends well in the second generation.
const std::string kUntilSecondGeneration =
    "echo '{\"step\":7,\"time\":1,\"phase\":\"training\"}' > \"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"\n"
    "if [ $TRAINYARD_GENERATION = 2 ]; then sleep 0.3; exit 0; fi\n";

TEST_F(ClusterTest, TwoNodesComputeTogether) {
  // They stay until their node has written figures, which it sends to the head since they run.
  const std::string until_figures =
      "lines() { cat \"$TRAINYARD_RUN_DIR/gpus/$TRAINYARD_HOST.jsonl\" 2>/dev/null | wc -l; }\n"
      "before=$(lines); \"$0\" 0; until [ $(lines) -gt $before ]; do sleep 0.1; done";
  const std::string dir = start_spread(spread_spec({"/bin/sh", "-c", until_figures, TRAINYARD_MPI_ABORTER}));
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(text(dir + "/logs/rank-0.log"), "sum 6\n");
  EXPECT_EQ(last["world"], 4);
  ASSERT_EQ(last["ranks"].size(), 4U);
  EXPECT_EQ(last["ranks"][1]["host"], "gpu1");
  EXPECT_EQ(last["ranks"][2]["host"], "gpu2");
  EXPECT_EQ(last["nodes"][1]["state"], "joined");
  EXPECT_EQ(events(dir, "node_joined").size(), 2U);
  EXPECT_EQ(read_json_object(dir + "/exits/gen-1-rank-3.json")->value("host", ""), "gpu2");
  EXPECT_FALSE(text(dir + "/gpus/gpu2.jsonl").empty());
  EXPECT_FALSE(text(dir + "/gpus/gpu1.jsonl").empty());
  struct stat info{};
  for (const std::string& secret : {dir + "/join.json", second(dir) + "/nodes/gpu2/join.json"}) {
    ASSERT_EQ(::stat(secret.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
  }
}

TEST_F(ClusterTest, ARankGetsItsOwnNodesFoldersAndNoKey) {
  Json spec = spread_script(
      "env > \"$TRAINYARD_RUN_DIR/env-$PMI_RANK\"; pwd > \"$TRAINYARD_RUN_DIR/pwd-$PMI_RANK\"; printf '%s|' \"$@\" > "
      "\"$TRAINYARD_RUN_DIR/words-$PMI_RANK\"");
  spec["env"] = {{"GREETING", "hello there"}};
  spec["nodes"][1]["gpus"] = {6, 4};
  spec["nodes"][1]["nvidia"] = {"/opt/cuda/lib", "/opt/cudnn/lib"};
  spec["threadsPerRank"] = 3;
  for (const char* word : {"sh", ":", "", "a b", "~/x", "\"'$y"}) spec["argv"].push_back(word);
  const std::string dir = start_spread(spec);
  const std::string key = read_json_object(dir + "/join.json")->value("key", "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  const std::string env = text(second(dir) + "/env-3");
  for (const std::string& line : {"TRAINYARD_HOST=gpu2", "TRAINYARD_GENERATION=1", "OMP_NUM_THREADS=3",
                                  "GREETING=hello there", "CUDA_VISIBLE_DEVICES=4", "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                                  "TRAINYARD_NVIDIA_LIBRARIES=/opt/cuda/lib:/opt/cudnn/lib"}) {
    EXPECT_NE(env.find("\n" + line + "\n"), std::string::npos) << line;
  }
  EXPECT_NE(env.find("TRAINYARD_RUN_DIR=" + second(dir) + "\n"), std::string::npos);
  EXPECT_EQ(env.find(key), std::string::npos);
  EXPECT_EQ(text(dir + "/env-0").find("TRAINYARD_NVIDIA_LIBRARIES"), std::string::npos);
  EXPECT_EQ(text(second(dir) + "/pwd-2"), second(dir) + "\n");
  const char* home = std::getenv("HOME");
  EXPECT_EQ(text(second(dir) + "/words-2"), std::string(":||a b|") + (home ? home : "") + "/x|\"'$y|");
}

TEST_F(ClusterTest, AHeadWithoutSlotsHoldsTheRunAndNoRank) {
  Json spec = spread_script("echo $TRAINYARD_HOST $MASTER_ADDR $NNODES; " + kUntilSecondGeneration +
                            "if [ $PMI_RANK = 1 ]; then kill -9 $$; fi; sleep 60");
  spec["ranks"] = 2;
  spec["nodes"][0]["slots"] = 0;
  spec["limits"]["maxRestarts"] = 1;
  const std::string dir = start_spread(spec);
  const Json last = ended(dir, 40);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
  ASSERT_EQ(last["ranks"].size(), 2U);
  EXPECT_EQ(last["ranks"][0]["host"], "gpu2");
  EXPECT_EQ(last["nodes"][0]["state"], "joined");
  EXPECT_TRUE(text(dir + "/logs/rank-0.log").starts_with("gpu2 127.0.0.3 1\n")) << text(dir + "/logs/rank-0.log");
  EXPECT_FALSE(file_exists(dir + "/nodes/gpu1/proxy.log"));
  EXPECT_TRUE(file_exists(second(dir) + "/nodes/gpu2/proxy.log"));
}

TEST_F(ClusterTest, ATrainersRank0NeedsTheFolderOfAHeadWithoutSlots) {
  Json spec = spread_spec({"train"});
  spec["program"] = "trainer";
  spec["ranks"] = 2;
  spec["nodes"][0]["slots"] = 0;
  const Json last = ended(start_spread(spec));
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_NE(last["reason"].get<std::string>().find("rank 0 would be on gpu2, which does not see the run folder "),
            std::string::npos)
      << last["reason"];
  EXPECT_TRUE(last["ranks"].empty());
}

TEST_F(ClusterTest, ARankKilledOnTheSecondNodeStartsAllAnew) {
  Json spec = spread_script(kUntilSecondGeneration + "if [ $PMI_RANK = 3 ]; then sleep 0.5; kill -9 $$; fi; sleep 60");
  spec["limits"]["maxRestarts"] = 1;
  const std::string dir = start_spread(spec);
  const Json last = ended(dir, 40);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
  const auto restarts = events(dir, "restarting");
  ASSERT_EQ(restarts.size(), 1U);
  EXPECT_EQ(restarts[0]["reason"], "rank 3 on gpu2 was killed by signal 9 (SIGKILL) at step 7");
  EXPECT_EQ(restarts[0]["restarts_left"], 0);
  EXPECT_EQ(events(dir, "rank_exited").size(), 8U);
  EXPECT_EQ(events(dir, "node_lost").size(), 0U);
}

TEST_F(ClusterTest, AKilledJoinLeavesNoRankAndItsNodeMayComeBack) {
  Json spec = spread_script(kUntilSecondGeneration + "trap '' TERM; sleep 300 & wait; sleep 300");
  spec["limits"]["maxRestarts"] = 1;
  const std::string dir = start_spread(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ASSERT_FALSE(processes(second(dir)).empty());
  ASSERT_TRUE(signal_process(second_join(dir), SIGKILL));
  EXPECT_TRUE(eventually([&] { return processes(second(dir)).empty(); }, 8)) << "ranks of a dead join are left";
  join_second(dir);
  const Json last = ended(dir, 60);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
}

TEST_F(ClusterTest, ANodeThatLeavesGetsNoRanksOfTheNextGeneration) {
  Json spec = spread_script("sleep 60");
  spec["limits"]["maxRestarts"] = 1;
  spec["limits"]["minNodes"] = 1;
  const std::string dir = start_spread(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ASSERT_TRUE(signal_process(second_join(dir), SIGTERM));
  EXPECT_TRUE(eventually([&] {
    const std::vector<Json> waits = events(dir, "waiting_for_nodes");
    return !events(dir, "restarting").empty() && !waits.empty() && waits.back()["hosts"] == Json::array({"gpu2"});
  }));
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "tester"}});
  EXPECT_EQ(ended(dir)["phase"], "stopped");
  EXPECT_EQ(events(dir, "started").size(), 1U);
}

TEST_F(ClusterTest, ALongCommandLineReachesEveryNode) {
  Json spec = spread_script("echo $#");
  for (int index = 0; index < 10; ++index) spec["argv"].push_back(std::string(100'000, 'x'));
  const std::string dir = start_spread(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished") << state(dir)["reason"];
  EXPECT_EQ(text(dir + "/logs/rank-3.log"), "9\n");
}

TEST_F(ClusterTest, AStoppedJoinIsALostNodeThatComesBackWithoutLosingABytes) {
  Json spec = spread_script(kUntilSecondGeneration +
                            "n=0; while [ $n -lt 100000 ]; do n=$((n+1)); echo line $n; sleep 0.01; done");
  spec["limits"]["maxRestarts"] = 1;
  const std::string dir = start_spread(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const ProcessId join = second_join(dir);
  ASSERT_TRUE(signal_process(join, SIGSTOP));
  EXPECT_TRUE(eventually([&] { return !events(dir, "node_lost").empty(); }, 25));
  ASSERT_TRUE(signal_process(join, SIGCONT));
  const Json last = ended(dir, 60);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
  const auto restarts = events(dir, "restarting");
  ASSERT_EQ(restarts.size(), 1U);
  EXPECT_NE(restarts[0]["reason"].get<std::string>().find("node gpu2 was lost"), std::string::npos) << restarts[0];
  EXPECT_EQ(text(dir + "/logs/rank-3.log"), text(second(dir) + "/logs/rank-3.log"));
}

TEST_F(ClusterTest, AStopReachesEveryNode) {
  const std::string dir =
      start_spread(spread_script("trap 'echo asked; exit 75' TERM; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ASSERT_TRUE(eventually([&] { return text(dir + "/logs/rank-3.log") == "ready\n"; }));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "tester"}});
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped") << last["reason"];
  EXPECT_EQ(last["exitCode"], 75);
  EXPECT_TRUE(text(dir + "/logs/rank-3.log").starts_with("ready\n"));
  EXPECT_TRUE(text(dir + "/logs/rank-3.log").ends_with("asked\n"));
}

TEST_F(ClusterTest, StopNowEndsWhatHidesOnEveryNode) {
  const std::string dir =
      start_spread(spread_script("trap '' TERM; setsid sleep 300 & env -i setsid sleep 300 & sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "tester"}});
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped") << last["reason"];
  EXPECT_EQ(last["exitCode"], 137);
  EXPECT_TRUE(processes(second(dir)).empty());
}

TEST_F(ClusterTest, LogBytesOfAnotherNodeArriveAsTheyAre) {
  // 4 MiB without a newline, every byte value among them.
  std::string pattern;
  for (int value = 0; value < 256; ++value) pattern.push_back(static_cast<char>(value));
  std::string all;
  while (all.size() < (4U << 20)) all += pattern;
  write_file(folder_.file("bytes"), all);
  const std::string dir =
      start_spread(spread_script("if [ $PMI_RANK -ge 2 ]; then cat '" + folder_.file("bytes") + "'; fi"));
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_TRUE(text(dir + "/logs/rank-2.log") == all);
  EXPECT_TRUE(text(dir + "/logs/rank-3.log") == all);
}

TEST_F(ClusterTest, ACutConnectionLosesAndDoublesNothing) {
  const std::string dir = start(spread_script(
      "if [ $PMI_RANK -ge 2 ]; then n=0; while [ $n -lt 80 ]; do n=$((n+1)); head -c 100000 /dev/urandom; sleep 0.05; "
      "done; else sleep 6; fi"));
  Relay relay(client_->call("run.joining", {{"dir", dir}})["port"]);
  join_second(dir, "127.0.0.1", relay.port());
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  int cuts = 0;
  while (state(dir)["phase"] == "running") {
    sleep_ms(400);
    if (cuts < 10) cuts += relay.cut();  // then it may end, however slow the machine is
  }
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 1);
  EXPECT_GE(cuts, 3);
  for (const char* log : {"/logs/rank-2.log", "/logs/rank-3.log"}) {
    EXPECT_EQ(text(dir + log).size(), 8'000'000U);
    EXPECT_TRUE(text(dir + log) == text(second(dir) + log));
  }
  // The times too: each once, and of the same sizes, since head and node began with no log.
  for (const char* times : {"/logs/rank-2.times", "/logs/rank-3.times"}) {
    EXPECT_NE(text(dir + times), "");
    EXPECT_EQ(text(dir + times), text(second(dir) + times));
  }
}

TEST_F(ClusterTest, AProgramThatTheHeadLacksIsNamedWithTheHeadsNameInTheProfile) {
  for (const std::string& program : {"no-such-program", "/nowhere/program"}) {
    const Json params{{"workdir", folder_.file("work")}, {"spec", spread_spec({program})}};
    const std::string why = client_->error("run.start", params)["message"];
    EXPECT_TRUE(why.starts_with(program)) << why;
    EXPECT_NE(why.find(" on gpu1. Install it there"), std::string::npos) << why;
  }
}

TEST_F(ClusterTest, ANodeThatDoesNotJoinIsNamed) {
  Json spec = spread_script("true");
  spec["limits"]["startTimeout"] = 1;
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_NE(last["reason"].get<std::string>().find("node gpu2 did not join within 1 s"), std::string::npos)
      << last["reason"];
  EXPECT_EQ(events(dir, "waiting_for_nodes").size(), 1U);
}

TEST_F(ClusterTest, ANodeThatCannotResolveTheHeadSaysSoAndSoDoesTheRun) {
  const std::string dir = start(spread_script("true"));
  const double begun = monotonic_seconds();
  const Json refused = client_->error("run.join", join_params(dir, "lab1.invalid"));
  const std::string why = refused["message"];
  EXPECT_EQ(why, "it did not join: the head's address lab1.invalid is not known there");
  client_->call("run.not_joined", {{"dir", dir}, {"host", "gpu2"}, {"why", why}});
  const Json last = ended(dir);
  EXPECT_LT(monotonic_seconds() - begun, 25) << "it waited for what cannot come";
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_TRUE(last["reason"].get<std::string>().starts_with("node gpu2: " + why)) << last["reason"];
  EXPECT_NE(client_->error("run.not_joined", {{"dir", dir}, {"host", "gpu7"}, {"why", why}})["message"]
                .get<std::string>()
                .find("host"),
            std::string::npos);
}

TEST_F(ClusterTest, TheHeadNeedsNoNameThatItCannotResolve) {
  Json spec = spread_script("true");
  spec["nodes"][0]["address"] = "lab1.invalid";
  const std::string dir = start(spec);
  join_second(dir, "127.0.0.1");
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
}

TEST_F(ClusterTest, WhoCannotProveTheKeyIsShownOut) {
  const std::string dir = start_spread(spread_script("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const int port = client_->call("run.joining", {{"dir", dir}})["port"];
  const Descriptor stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in head{};
  head.sin_family = AF_INET;
  head.sin_port = htons(static_cast<uint16_t>(port));
  ASSERT_EQ(::inet_pton(AF_INET, "127.0.0.2", &head.sin_addr), 1);
  ASSERT_EQ(::connect(stranger.get(), reinterpret_cast<const sockaddr*>(&head), sizeof head), 0);
  const timeval patience{10, 0};
  ::setsockopt(stranger.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string said(4096, '\0');
  const ssize_t greeting = ::read(stranger.get(), said.data(), said.size());
  ASSERT_GT(greeting, 0);
  EXPECT_EQ(said.find(client_->call("run.joining", {{"dir", dir}})["key"].get<std::string>()), std::string::npos);
  EXPECT_EQ(::read(stranger.get(), said.data(), said.size()), 0) << "a silent stranger is not shown out in time";
  EXPECT_EQ(events(dir, "node_lost").size(), 0U);
  EXPECT_EQ(state(dir)["phase"], "running");

  // Meanwhile the processes show as a supervised run's on each node, and end only when all are to
  // end.
  const Json listed = client_->call("leftovers.list", {{"workdir", folder_.file("second")}});
  ASSERT_EQ(listed["runs"].size(), 1U);
  EXPECT_EQ(listed["runs"][0]["dir"], second(dir));
  EXPECT_EQ(listed["runs"][0]["supervised"], true);
  EXPECT_TRUE(client_->call("leftovers.kill", {{"workdir", folder_.file("second")}, {"all", false}})["killed"].empty());
  for (const char* node : {"work", "second"}) {
    const Json ended_all = client_->call("leftovers.kill", {{"workdir", folder_.file(node)}, {"all", true}});
    EXPECT_FALSE(ended_all["killed"].empty());
    EXPECT_TRUE(ended_all["left"].empty());
  }
  EXPECT_TRUE(client_->call("leftovers.list", {{"workdir", folder_.file("second")}})["runs"].empty());
}

}  // namespace
}  // namespace trainyard::test
