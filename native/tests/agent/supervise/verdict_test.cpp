// What counts as done, as failed and as worth another try, with the real mpiexec and scripts in
// place of the trainer.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/ranks/exit_record.h"
#include "agent/ranks/outcome.h"
#include "agent/system/clock.h"
#include "common/files.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

class VerdictTest : public RunTest {
 protected:
  static Json restarting_spec(const std::string& script) {
    Json spec = command_spec(script, 1);
    spec["limits"]["maxRestarts"] = 1;
    return spec;
  }
};

std::string tell(const std::string& outcome) { return "echo '" + outcome + "' >&$TRAINYARD_OUTCOME_FD\n"; }

TEST(Outcome, TheLastWholeLineCounts) {
  EXPECT_EQ(parse_outcome("{\"exit_code\":0}\n").exit_code, 0);
  EXPECT_EQ(parse_outcome("{\"exit_code\":0}\n{\"exit_code\":3,\"retryable\":true}\n{\"exit").exit_code, 3);
  EXPECT_EQ(parse_outcome("{\"retryable\":true}\n").retryable, true);
  for (const char* nonsense : {"", "\n", "{\"exit_code\":0}", "done\n", "{\"exit_code\":\"0\"}\n", "[1]\n"}) {
    EXPECT_FALSE(parse_outcome(nonsense).exit_code) << nonsense;
  }
}

TEST(Verdict, TheFirstFailureIsTheOneThatTheHeadSawFirst) {
  const auto failed = [](int rank, const char* host, double seen, double ended) {
    ExitRecord record;
    record.rank = rank;
    record.host = host;
    record.exit_code = 1;
    record.seen = seen;
    record.ended = ended;
    return record;
  };
  // gpu2's clock is an hour slow.
  const std::vector<ExitRecord> apart{failed(0, "gpu1", 10.0, 7200), failed(1, "gpu2", 10.2, 3600)};
  EXPECT_EQ(first_failure(apart)->rank, 0);
  const std::vector<ExitRecord> together{failed(0, "gpu1", 10.0, 7200), failed(1, "gpu1", 10.0, 7199)};
  EXPECT_EQ(first_failure(together)->rank, 1);
}

TEST_F(VerdictTest, ARankThatSaidItsWorkIsDoneHasSucceededHoweverItEnds) {
  const std::string dir = start(command_spec(tell("{\"exit_code\":0}") + "kill -PIPE $$"));
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  const auto exits = events(dir, "rank_exited");
  ASSERT_EQ(exits.size(), 2U);
  EXPECT_EQ(exits[0]["signal"], SIGPIPE);
  EXPECT_EQ(exits[0].value("outcome", -1), 0);
}

TEST_F(VerdictTest, ARankThatSaidNothingIsJudgedByItsEnd) {
  const std::string dir = start(command_spec("kill -PIPE $$"));
  EXPECT_EQ(ended(dir)["phase"], "failed");
}

TEST_F(VerdictTest, AnErrorThatMayPassIsTriedAgainWhateverItsCode) {
  const std::string dir = start(restarting_spec("[ $TRAINYARD_GENERATION = 2 ] && exit 0\n" +
                                                tell("{\"exit_code\":4,\"retryable\":true}") + "exit 4"));
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
}

TEST_F(VerdictTest, AnErrorThatStaysIsNotTriedAgain) {
  for (const char* script :
       {"echo '{\"exit_code\":1,\"retryable\":false}' >&$TRAINYARD_OUTCOME_FD; exit 1", "exit 3", "exit 4"}) {
    const Json last = ended(start(restarting_spec(script)));
    EXPECT_EQ(last["phase"], "failed") << script;
    EXPECT_EQ(last["generation"], 1) << script;
  }
}

TEST_F(VerdictTest, AKilledMpiexecIsNamedAndNoRank) {
  const std::string dir = start(command_spec("sleep 60"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const Json mpiexec = state(dir)["mpiexec"];
  ASSERT_TRUE(signal_process({mpiexec["pid"].get<int>(), mpiexec["startTime"].get<uint64_t>()}, SIGKILL));
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_EQ(last["reason"], "mpiexec was killed by signal 9 (SIGKILL), which ends its ranks");
}

TEST_F(VerdictTest, RecordsOfAnEarlierRunAreNotTakenForThisOnes) {
  const std::string dir = folder_.file("continued");
  std::filesystem::create_directories(dir + "/exits");
  write_file(dir + "/exits/gen-1-rank-0.json",
             "{\"rank\":0,\"host\":\"old\",\"pid\":1,\"exit_code\":3,\"signal\":null,\"last_step\":9}\n");
  Json spec = command_spec("sleep 0.3", 2);
  spec["dir"] = dir;
  const Json last = ended(start(spec));
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
}

TEST_F(VerdictTest, ARankWhoseRecordCannotBeWrittenSaysSo) {
  const std::string dir = start(command_spec("rm -rf \"$TRAINYARD_RUN_DIR/exits\"; exit 3", 1));
  const Json last = ended(dir, 40);
  EXPECT_EQ(last["phase"], "failed");
  const std::string reason = last["reason"].get<std::string>();
  EXPECT_NE(reason.find("rank 0 ended (exit code 3), but its exit record was not written"), std::string::npos)
      << reason;
}

TEST_F(VerdictTest, AnExitCodeIsLearntWhereChildrenAreIgnored) {
  const std::string dir = folder_.file("ignored");
  for (const char* name : {"/exits", "/processes", "/logs", "/heartbeats"}) {
    std::filesystem::create_directories(dir + name);
  }
  const int pid = ::fork();
  if (pid == 0) {
    ::signal(SIGCHLD, SIG_IGN);
    ::execl(TRAINYARD_AGENT, "agent", "rank", "--run-dir", dir.c_str(), "--generation", "1", "--", "/bin/sh", "-c",
            "exit 3", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  const auto record = read_exit_record(dir + "/exits/gen-1-rank-0.json", 0);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->exit_code, 3);
}

TEST_F(VerdictTest, AKilledEvaluatorIsStartedAgain) {
  Json spec = trainer_spec("while [ ! -e \"$TRAINYARD_RUN_DIR/enough\" ]; do sleep 0.1; done",
                           "trap 'exit 0' TERM; while :; do sleep 0.1; done", 1);
  spec["evaluator"] = {{"argv", {"eval"}}, {"threads", 1}, {"nice", 0}};
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return !events(dir, "evaluator_started").empty(); }));
  ::kill(events(dir, "evaluator_started")[0]["pid"].get<int>(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return events(dir, "evaluator_started").size() == 2; })) << text(dir + "/events.jsonl");
  write_file(dir + "/enough", "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
}

TEST_F(VerdictTest, RanksThatStandStillAreToldOfBeforeTheyAreEnded) {
  Json spec = command_spec(
      "step=0\n"
      "while [ ! -e \"$TRAINYARD_RUN_DIR/enough\" ]; do\n"
      "  step=$((step+1))\n"
      "  echo \"{\\\"step\\\":$step,\\\"time\\\":1}\" > \"$TRAINYARD_HEARTBEAT_DIR/rank-$PMI_RANK\"\n"
      "  if [ $step = 10 ]; then touch \"$TRAINYARD_RUN_DIR/stopped-$PMI_RANK\"; kill -STOP $$; fi\n"
      "  sleep 0.05\n"
      "done",
      2);
  spec["limits"]["hangTimeout"] = 24;  // the event comes after a quarter of hangTimeout
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return !events(dir, "stalled").empty(); }, 40)) << text(dir + "/events.jsonl");
  const Json stalled = events(dir, "stalled")[0];
  EXPECT_EQ(stalled["last_step"], 10);
  EXPECT_GE(stalled["seconds"].get<double>(), 6);
  ASSERT_EQ(stalled["waiting_for"].size(), 2U) << stalled;
  EXPECT_EQ(stalled["waiting_for"][1]["rank"], 1);
  ASSERT_EQ(stalled["doing"].size(), 2U) << stalled;
  EXPECT_EQ(stalled["doing"][1]["what"], "is stopped by a signal (SIGSTOP or a debugger)");
  write_file(dir + "/enough", "");
  const Json now = state(dir);
  for (const Json& rank : now["ranks"]) ::kill(rank["pid"].get<int>(), SIGCONT);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(events(dir, "stalled").size(), 1U);
}

class SpreadVerdictTest : public ClusterTest {};

/// mpiexec fails where it wants to tell a proxy that has ended of another rank's end.
TEST_F(SpreadVerdictTest, NoProxyEndsBeforeEveryRankHasEnded) {
  const std::string enough = folder_.file("enough");
  const std::string dir =
      start_spread(spread_script("[ $PMI_RANK -ge 2 ] && exit 0\nwhile [ ! -e '" + enough + "' ]; do sleep 0.1; done"));
  ASSERT_TRUE(eventually([&] { return events(dir, "rank_exited").size() == 2; })) << text(dir + "/events.jsonl");
  sleep_ms(1500);  // a proxy without a process ends at once
  const auto left = processes(second(dir));
  EXPECT_TRUE(std::any_of(left.begin(), left.end(),
                          [](const NamedProcess& one) { return one.what.starts_with("hydra_pmi_pro"); }));
  write_file(enough, "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
}

TEST_F(SpreadVerdictTest, ANodeThatIsAskedToEndAsksItsRanksFirst) {
  const std::string asked = folder_.file("asked");
  // As the trainer's ranks do: the one that is asked tells the others.
  const std::string dir = start_spread(spread_script("trap 'echo asked; touch " + asked + "' TERM; while [ ! -e '" +
                                                     asked + "' ]; do sleep 0.1; done; exit 75"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  sleep_ms(500);  // the traps are set
  ASSERT_TRUE(signal_process(second_join(dir), SIGTERM));
  const Json last = ended(dir, 40);
  EXPECT_EQ(last["phase"], "stopped") << last["reason"];
  EXPECT_EQ(last["exitCode"], 75);
  EXPECT_TRUE(text(dir + "/logs/rank-3.log").ends_with("asked\n"));  // sh says that its sleep was terminated
  const auto stops = events(dir, "stop_requested");
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_NE(stops[0]["by"].get<std::string>().find("gpu2"), std::string::npos);
}

TEST_F(SpreadVerdictTest, ALostNodeHasTheTimeThatTheRunGivesIt) {
  Json spec = spread_script("sleep 300");
  spec["limits"]["maxRestarts"] = 1;
  spec["limits"]["nodeReturnTimeout"] = 3;
  spec["minNodes"] = 2;
  const std::string dir = start_spread(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ASSERT_TRUE(signal_process(second_join(dir), SIGKILL));
  const Json last = ended(dir, 60);
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_TRUE(last["reason"].get<std::string>().starts_with("node gpu2 did not come back within 3 s"))
      << last["reason"];
  const auto waits = events(dir, "waiting_for_nodes");
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits.back().value("seconds", 0), 3);
}

}  // namespace
}  // namespace trainyard::test
