// Whole runs from start to end, and how they are told when they fail.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/files.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

using RunTestCase = RunTest;

TEST_F(RunTestCase, ATrainerRunsToItsEndWithItsEvaluator) {
  Json spec = trainer_spec(
      "printf '%s|' \"$@\" > \"$TRAINYARD_RUN_DIR/argv-$PMI_RANK\"\n"
      "echo \"$PMI_SIZE $TRAINYARD_GENERATION $TRAINYARD_HEARTBEAT_DIR $OMP_NUM_THREADS $GREETING\"\n"
      "echo oops >&2\n"
      "printf '{\"kind\":\"checkpoint\",\"step\":7,\"path\":\"checkpoints/step-00000007\",\"bytes\":12}\\n' >> "
      "\"$TRAINYARD_RUN_DIR/metrics.jsonl\"\n"
      "echo '{\"step\":7,\"time\":1,\"phase\":\"training\"}' > \"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"\n"
      "sleep 0.7",
      "trap 'echo last >> \"$TRAINYARD_RUN_DIR/eval-done\"; exit 0' TERM\nprintf '%s|' \"$@\"\nwhile :; do sleep 0.05; "
      "done");
  spec["argv"] = {"train", "--model", "resnet20", ":", "", "a b", "\"'$x\n"};
  spec["threadsPerRank"] = 3;
  spec["env"] = {{"GREETING", "hello there"}};
  spec["evaluator"] = {{"argv", {"eval", "--data", "x"}}, {"threads", 1}, {"nice", 19}};
  spec.erase("label");
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished");
  EXPECT_EQ(last["exitCode"], 0);
  EXPECT_TRUE(last["reason"].is_null());
  EXPECT_EQ(last["ranks"].size(), 2U);

  const std::regex id("[0-9]{8}-[0-9]{6}-resnet20-[0-9a-f]{4}");
  EXPECT_TRUE(std::regex_match(dir.substr(dir.rfind('/') + 1), id)) << dir;
  struct stat info{};
  ASSERT_EQ(::stat(dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);

  EXPECT_EQ(text(dir + "/argv-1"), "train|--model|resnet20|:||a b|\"'$x\n|--run-dir|" + dir + "|");
  EXPECT_EQ(text(dir + "/logs/rank-1.log"), "2 1 " + dir + "/heartbeats 3 hello there\noops\n");
  EXPECT_EQ(text(dir + "/logs/eval.log"), "eval|--data|x|--run-dir|" + dir + "|");
  EXPECT_EQ(text(dir + "/eval-done"), "last\n");
  EXPECT_EQ(events(dir, "checkpoint").size(), 2U);  // one line of each rank
  EXPECT_EQ(events(dir, "checkpoint")[0]["step"], 7);
  EXPECT_EQ(events(dir, "evaluator_exited").at(0)["exit_code"], 0);
  EXPECT_EQ(events(dir, "finished").at(0)["exit_code"], 0);
  const Json record = *read_json_object(dir + "/exits/gen-1-rank-1.json");
  EXPECT_EQ(record["exit_code"], 0);
  EXPECT_EQ(record["last_step"], 7);
  EXPECT_FALSE(text(dir + "/gpus/" + host_name() + ".jsonl").empty());

  const Json got = client_->call("run.get", {{"dir", dir}});
  EXPECT_EQ(got["interrupted"], false);
  EXPECT_EQ(got["files"]["logs/rank-1.log"], text(dir + "/logs/rank-1.log").size());
  const Json listed = client_->call("run.list", {{"workdir", folder_.file("work")}});
  ASSERT_EQ(listed["runs"].size(), 1U);
  EXPECT_EQ(listed["runs"][0]["run"]["argv"], spec["argv"]);
}

TEST_F(RunTestCase, EachRankIsGivenItsOwnGpu) {
  const std::string script = "echo \"$CUDA_DEVICE_ORDER $CUDA_VISIBLE_DEVICES\"";
  Json spec = command_spec(script);
  spec["gpus"] = {3, 1};
  const std::string pinned = start(spec);
  spec["env"] = {{"CUDA_VISIBLE_DEVICES", "5"}, {"CUDA_DEVICE_ORDER", ""}};
  const std::string chosen = start(spec);
  ended(pinned);
  ended(chosen);
  EXPECT_EQ(text(pinned + "/logs/rank-0.log"), "PCI_BUS_ID 3\n");
  EXPECT_EQ(text(pinned + "/logs/rank-1.log"), "PCI_BUS_ID 1\n");
  EXPECT_EQ(text(chosen + "/logs/rank-1.log"), " 5\n") << "the profile's own variable goes before";
}

TEST_F(RunTestCase, AFailingRankEndsTheOthersAndItsOwnWordsAreTheReason) {
  Json spec = trainer_spec(
      "trap '' TERM\n"
      "if [ $PMI_RANK = 1 ]; then sleep 0.2; echo 'trainer: error: host x rank 1: no data in /d. Check --data' >&2; "
      "exit 3; fi\n"
      "sleep 60",
      "");
  spec["limits"]["maxRestarts"] = 3;  // a user's mistake is not tried again
  const std::string dir = start(spec);
  const double begun = monotonic_seconds();
  const Json last = ended(dir);
  EXPECT_LT(monotonic_seconds() - begun, 12);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_EQ(last["exitCode"], 3);
  EXPECT_EQ(last["reason"], "trainer: error: host x rank 1: no data in /d. Check --data");
  EXPECT_EQ(last["generation"], 1);
  EXPECT_EQ(events(dir, "rank_exited").size(), 2U);
}

TEST_F(RunTestCase, AKilledRankIsNamedAndTheGroupIsStartedAnew) {
  Json spec = trainer_spec(
      "echo '{\"step\":120,\"time\":1,\"phase\":\"training\"}' > \"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"\n"
      "if [ $TRAINYARD_GENERATION = 2 ]; then exit 0; fi\n"
      "if [ $PMI_RANK = 1 ]; then sleep 0.3; kill -9 $$; fi\nsleep 60",
      "");
  const std::string dir = start(spec);
  Json last = ended(dir);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_EQ(last["exitCode"], 137);
  EXPECT_EQ(last["reason"], "rank 1 on " + host_name() + " was killed by signal 9 (SIGKILL) at step 120");

  // The same folder goes on as generation 2.
  spec["dir"] = dir;
  EXPECT_EQ(client_->call("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}})["dir"], dir);
  ASSERT_TRUE(wait_for_phase(dir, "finished"));
  EXPECT_EQ(state(dir)["generation"], 2);
  EXPECT_EQ(events(dir, "created").size(), 1U);

  spec.erase("dir");
  spec["limits"]["maxRestarts"] = 1;
  const std::string restarted = start(spec);
  last = ended(restarted);
  EXPECT_EQ(last["phase"], "finished");
  EXPECT_EQ(last["generation"], 2);
  EXPECT_EQ(events(restarted, "started").size(), 2U);
}

// mpiexec's proxy goes away at once then, which the aborting rank itself may die of (SIGPIPE): the
// line is what counts.
TEST_F(RunTestCase, MpiAbortLeavesTheErrorLine) {
  Json spec = command_spec("");
  spec["argv"] = {TRAINYARD_MPI_ABORTER, "4"};
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_EQ(last["reason"], "trainer: error: rank 1: no such device. Choose another");
  EXPECT_NE(last["exitCode"], 0);
}

TEST_F(RunTestCase, AnMpiProgramComputesTogether) {
  Json spec = command_spec("");
  spec["argv"] = {TRAINYARD_MPI_ABORTER, "0"};
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(text(dir + "/logs/rank-0.log"), "sum 1\n");
}

TEST_F(RunTestCase, ASilentRankIsAHang) {
  Json spec = trainer_spec(
      "beat() { echo \"{\\\"step\\\":$1,\\\"time\\\":1,\\\"phase\\\":\\\"training\\\"}\" > "
      "\"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"; }\n"
      "step=0\nwhile :; do\n"
      "  if [ $PMI_RANK = 0 ] || [ $step -lt 3 ]; then step=$((step+1)); beat $step; fi\n  sleep 0.1\ndone",
      "");
  spec["limits"]["hangTimeout"] = 1;
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "failed");
  ASSERT_EQ(events(dir, "hang").size(), 1U);
  EXPECT_EQ(events(dir, "hang")[0]["ranks"], Json({1}));
  EXPECT_EQ(events(dir, "hang")[0]["last_step"], 3);
  EXPECT_NE(last["reason"].get<std::string>().find("rank 1 on"), std::string::npos) << last["reason"];
}

TEST_F(RunTestCase, OfRanksThatAllStandStillTheStoppedOneIsNamed) {
  Json spec = trainer_spec(
      "echo '{\"step\":5,\"time\":1,\"phase\":\"training\"}' > \"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"\n"
      "if [ $PMI_RANK = 1 ]; then kill -STOP $$; fi\nwhile :; do :; done",
      "");
  spec["limits"]["hangTimeout"] = 3;  // long enough for rank 1 to have stopped itself
  const std::string dir = start(spec);
  const Json last = ended(dir);
  ASSERT_EQ(events(dir, "hang").size(), 1U);
  EXPECT_EQ(events(dir, "hang")[0]["suspects"], Json::array({1}));
  const std::string stopped = "is stopped by a signal (SIGSTOP or a debugger)";
  EXPECT_TRUE(last["reason"].get<std::string>().ends_with("; rank 1 " + stopped)) << last["reason"];
  const Json doing = events(dir, "hang")[0]["doing"];
  ASSERT_EQ(doing.size(), 1U) << doing;
  EXPECT_EQ(doing[0]["rank"], 1);
  EXPECT_EQ(doing[0]["host"], events(dir, "rank_started")[0]["host"]);
  EXPECT_EQ(doing[0]["what"], stopped);
}

TEST_F(RunTestCase, OfRanksThatAllStandStillTheIdleOneIsNamed) {
  Json spec = trainer_spec(
      "echo '{\"step\":5,\"time\":1,\"phase\":\"training\"}' > \"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"\n"
      "if [ $PMI_RANK = 0 ]; then exec sleep 60; fi\nwhile :; do :; done",
      "");
  spec["limits"]["hangTimeout"] = 1;
  const std::string dir = start(spec);
  const Json last = ended(dir);
  const std::string idle = "rank 0 computes nothing while the others wait; it sleeps in nanosleep: it lets a time pass";
  EXPECT_TRUE(last["reason"].get<std::string>().ends_with(idle)) << last["reason"];
}

TEST_F(RunTestCase, ACommandThatCannotStartIsAFailureThatSaysSo) {
  Json spec = command_spec("");
  spec["argv"] = {"./absent", "x"};  // below the run's own folder, so nobody knows it at the start
  spec["limits"]["maxRestarts"] = 2;
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_EQ(last["exitCode"], 4);
  EXPECT_EQ(last["generation"], 1);
  const auto reason = last["reason"].get<std::string>();
  EXPECT_NE(reason.find("rank "), std::string::npos) << reason;
  EXPECT_NE(reason.find("cannot start './absent': No such file or directory"), std::string::npos) << reason;
}

TEST_F(RunTestCase, ALauncherThatNeverStartsARankMissesTheDeadline) {
  write_file(folder_.file("mpiexec"), "#!/bin/sh\ntrap '' TERM INT\nwhile :; do sleep 0.1; done\n");
  ::chmod(folder_.file("mpiexec").c_str(), 0700);
  Json spec = command_spec("true");
  spec["paths"]["mpiexec"] = folder_.file("mpiexec");
  spec["limits"]["startTimeout"] = 0.5;
  const Json last = ended(start(spec));
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_NE(last["reason"].get<std::string>().find("only 0 of 2 ranks started"), std::string::npos) << last["reason"];
}

TEST_F(RunTestCase, BackgroundProcessesOfAFinishedRunAreEnded) {
  const std::string dir =
      start(command_spec("setsid sh -c 'trap \"\" TERM; sleep 300' & env -i setsid sleep 301 & sleep 0.3", 1));
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_TRUE(processes(dir).empty());
  EXPECT_NE(std::system("pgrep -x -f 'sleep 301' > /dev/null"), 0)
      << "a process that threw its environment away is left";
}

/// Of a process; clock ticks, of which a second has a hundred.
long cpu_ticks(int pid) {
  std::istringstream fields(read_file("/proc/" + std::to_string(pid) + "/stat"));
  std::string field;
  for (int i = 1; i < 14; ++i) fields >> field;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

TEST_F(RunTestCase, AProxyRestsWhileSomeOfItsRanksHaveEnded) {
  const std::string dir = start(command_spec("if [ $PMI_RANK = 1 ]; then sleep 4; fi"));
  const std::string record = dir + "/exits/gen-1-rank-0.json";
  ASSERT_TRUE(eventually([&] { return file_exists(record); }));
  const std::vector<NamedProcess> all = processes(dir);
  const auto proxy = std::find_if(all.begin(), all.end(), [](const NamedProcess& one) {
    return text("/proc/" + std::to_string(one.process.pid) + "/comm").starts_with("hydra_pmi");
  });
  ASSERT_NE(proxy, all.end());
  const long before = cpu_ticks(proxy->process.pid);
  sleep_ms(2000);
  EXPECT_LT(cpu_ticks(proxy->process.pid) - before, 30);
  EXPECT_EQ(ended(dir)["phase"], "finished");
}

}  // namespace
}  // namespace trainyard::test
