// Ending runs: on request, at once, and when somebody kills their supervisor or client.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "common/files.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

using StopTest = RunTest;

constexpr const char* kObedient = "trap 'exit 75' TERM; while :; do sleep 0.05; done";
constexpr const char* kStubborn =
    "trap '' TERM INT HUP\n"
    "setsid sh -c \"trap '' TERM; echo \\$\\$ > '$TRAINYARD_RUN_DIR/away-$PMI_RANK'; sleep 300\" &\n"
    "if [ $PMI_RANK = 1 ]; then kill -STOP $$; fi\n"
    "while :; do sleep 0.1; done";

bool stubborn_are_ready(const std::string& dir) {
  struct stat info{};
  return ::stat((dir + "/away-0").c_str(), &info) == 0 && ::stat((dir + "/away-1").c_str(), &info) == 0;
}

TEST_F(StopTest, ACheckpointStopEndsWithSeventyFive) {
  Json spec = trainer_spec(kObedient, "trap 'exit 0' TERM; while :; do sleep 0.05; done");
  spec["evaluator"] = {{"argv", {"eval"}}, {"threads", 1}, {"nice", 19}};
  const std::string dir = start(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "me@here"}});
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 75);
  EXPECT_EQ(events(dir, "stop_requested").at(0)["by"], "me@here");
  EXPECT_EQ(events(dir, "evaluator_exited").at(0)["exit_code"], 0);
  EXPECT_EQ(client_->error("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "me"}})["code"], 2);

  // Continued, the old request must not stop it again.
  spec["dir"] = dir;
  client_->call("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  sleep_ms(1200);
  EXPECT_EQ(state(dir)["phase"], "running");
  ::kill(state(dir)["supervisor"]["pid"].get<int>(), SIGTERM);  // asks for the same
  EXPECT_EQ(ended(dir)["exitCode"], 75);
  EXPECT_EQ(state(dir)["generation"], 2);
}

TEST_F(StopTest, StopNowEndsWhateverTheyDo) {
  const std::string dir = start(command_spec(kStubborn));
  ASSERT_TRUE(eventually([&] { return stubborn_are_ready(dir); }));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "a"}});
  ASSERT_TRUE(wait_for_phase(dir, "stopping"));
  const double begun = monotonic_seconds();
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "b"}});
  const Json last = ended(dir);
  EXPECT_LT(monotonic_seconds() - begun, 8);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_TRUE(processes(dir).empty());
  EXPECT_EQ(events(dir, "rank_exited").at(0)["signal"], 9);
}

TEST_F(StopTest, StopNowEndsAnEvaluatorThatTakesItsTime) {
  Json spec = trainer_spec("sleep 0.5", "trap '' TERM; while :; do sleep 0.05; done");
  spec["evaluator"] = {{"argv", {"eval"}}, {"threads", 1}, {"nice", 19}};
  const std::string dir = start(spec);
  ASSERT_TRUE(wait_for_phase(dir, "evaluating"));
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "me"}});
  EXPECT_EQ(ended(dir)["phase"], "finished");  // the training itself had ended well
}

// While somebody traces a process, its parent cannot reap it: so the moment between two generations
// is held still.
TEST_F(StopTest, AStopWhileTheEvaluatorIsReapedIsNotLost) {
  Json spec = trainer_spec(
      "if [ $TRAINYARD_GENERATION = 2 ]; then sleep 300; fi\n"
      "while [ ! -e \"$TRAINYARD_RUN_DIR/die\" ]; do sleep 0.05; done; kill -9 $$",
      "while :; do sleep 0.05; done", 1);
  spec["evaluator"] = {{"argv", {"eval"}}, {"threads", 1}, {"nice", 19}};
  spec["limits"]["maxRestarts"] = 1;
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return state(dir)["evaluator"].is_object(); }));
  const pid_t evaluator = state(dir)["evaluator"]["pid"];
  if (::ptrace(PTRACE_SEIZE, evaluator, nullptr, nullptr) != 0) {
    client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "me"}});
    ended(dir);
    GTEST_SKIP() << "this user may not trace a process that is not a child";
  }
  write_file(dir + "/die", "");
  EXPECT_TRUE(eventually([&] { return !process_start_time(evaluator); })) << "the evaluator was not ended";
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "me"}});
  EXPECT_TRUE(eventually([&] { return !events(dir, "stop_requested").empty(); }));
  ::waitpid(evaluator, nullptr, __WALL);  // now its parent may
  EXPECT_EQ(ended(dir)["phase"], "stopped");
  EXPECT_EQ(events(dir, "started").size(), 1U) << "another generation was started";
}

TEST_F(StopTest, AStopInPlaceOfARestartIsAStop) {
  Json spec = command_spec("kill -9 $$", 1);
  spec["limits"]["maxRestarts"] = 3;
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return !events(dir, "rank_exited").empty(); }));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "me@here"}});
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 75);
  const std::string reason = last["reason"];
  EXPECT_TRUE(reason.starts_with("stopped by me@here, in place of a restart after: rank 0 on ")) << reason;
  EXPECT_EQ(events(dir, "started").size(), 1U) << "another generation was started";
}

TEST_F(StopTest, ARankThatFailsAfterAStopFailsTheRunWhateverRestartsAreLeft) {
  for (const int restarts : {0, 3}) {
    Json spec = command_spec("trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done", 1);
    spec["limits"]["maxRestarts"] = restarts;
    const std::string dir = start(spec);
    ASSERT_TRUE(eventually([&] { return text(dir + "/logs/rank-0.log") == "ready\n"; }));
    client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "me@here"}});
    const Json last = ended(dir);
    EXPECT_EQ(last["phase"], "failed") << restarts;
    EXPECT_EQ(last["exitCode"], 9) << restarts;
    EXPECT_EQ(last["generation"], 1) << restarts;
  }
}

// A folder in the place of stop.json stands for a disk that takes no file any more.
TEST_F(StopTest, ReachesTheSupervisorWhereNothingCanBeWritten) {
  for (const char* mode : {"checkpoint", "now"}) {
    const std::string dir = start(command_spec(kObedient, 1));
    ASSERT_TRUE(wait_for_phase(dir, "running"));
    ASSERT_EQ(::mkdir((dir + "/stop.json").c_str(), 0700), 0);
    client_->call("run.stop", {{"dir", dir}, {"mode", mode}, {"by", "me"}});
    EXPECT_EQ(ended(dir)["phase"], "stopped");
    EXPECT_EQ(events(dir, "stop_requested").at(0)["mode"], mode);
  }
}

TEST_F(StopTest, ASecondSupervisorIsRefused) {
  const Json spec = command_spec(kObedient, 1);
  const std::string dir = start(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const int before = state(dir)["supervisor"]["pid"];
  const std::string line = "'" TRAINYARD_AGENT "' supervise --run-dir '" + dir + "' 2> '" + folder_.file("said") + "'";
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_NE(text(folder_.file("said")).find("supervised by process " + std::to_string(before)), std::string::npos);

  Json again = spec;
  again["dir"] = dir;
  const Json refused = client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", again}});
  EXPECT_EQ(refused["code"], 2);
  EXPECT_EQ(client_->error("run.delete", {{"dir", dir}})["code"], 2);
  EXPECT_EQ(state(dir)["supervisor"]["pid"], before);
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "me"}});
  ended(dir);
  client_->call("run.delete", {{"dir", dir}});
  EXPECT_EQ(client_->error("run.get", {{"dir", dir}})["code"], 1);
}

TEST_F(StopTest, DeletingWaitsForWhatIsAboutToEndAndRefusesWhatStays) {
  const std::string dir = start(command_spec("true"));
  ended(dir);
  const std::string marked = "TRAINYARD_RUN_DIR='" + dir + "' ";
  ASSERT_EQ(std::system((marked + "sleep 300 & echo $! > '" + folder_.file("pid") + "'").c_str()), 0);
  const Json refused = client_->error("run.delete", {{"dir", dir}});
  EXPECT_EQ(refused["code"], 2);
  EXPECT_NE(refused["message"].get<std::string>().find("Close its terminals"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(dir + "/run.json"));
  ::kill(std::stoi(text(folder_.file("pid"))), SIGKILL);
  ASSERT_EQ(std::system((marked + "sleep 1 &").c_str()), 0);
  client_->call("run.delete", {{"dir", dir}});
  EXPECT_FALSE(std::filesystem::exists(dir));
}

TEST_F(StopTest, ATerminalOfARunIsAPersons) {
  const std::string dir = start(command_spec("sleep 1"));
  const std::string marked = "TRAINYARD_TERMINAL=1 TRAINYARD_RUN_DIR='" + dir + "' ";
  ASSERT_EQ(std::system((marked + "sleep 300 & echo $! > '" + folder_.file("pid") + "'").c_str()), 0);
  const pid_t terminal = std::stoi(text(folder_.file("pid")));
  EXPECT_EQ(ended(dir)["phase"], "finished");
  client_->call("run.delete", {{"dir", dir}});
  EXPECT_FALSE(std::filesystem::exists(dir));
  EXPECT_EQ(::kill(terminal, SIGKILL), 0);
}

TEST_F(StopTest, AKilledClientChangesNothing) {
  const std::string dir = start(command_spec("sleep 1.5; echo done"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ::kill(client_->pid(), SIGKILL);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(text(dir + "/logs/rank-1.log"), "done\n");
}

TEST_F(StopTest, AKilledSupervisorLeavesNothingAndReadsAsInterrupted) {
  const std::string dir = start(command_spec(kStubborn));
  ASSERT_TRUE(eventually([&] { return stubborn_are_ready(dir); }));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ::kill(state(dir)["supervisor"]["pid"].get<int>(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes(dir).empty(); }, 5));
  const Json got = client_->call("run.get", {{"dir", dir}});
  EXPECT_EQ(got["interrupted"], true);
  EXPECT_EQ(got["state"]["phase"], "running");
  EXPECT_EQ(client_->error("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "me"}})["code"], 2);

  Json next = command_spec("true");  // and it can be continued at once
  next["dir"] = dir;
  client_->call("run.start", {{"workdir", folder_.file("work")}, {"spec", next}});
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(state(dir)["generation"], 2);
}

TEST_F(StopTest, RanksEndWithTheirSupervisorEvenWithoutTheGuard) {
  const std::string dir = start(command_spec("trap '' TERM; sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const Json before = state(dir);
  ::kill(before["guard"]["pid"].get<int>(), SIGKILL);
  ::kill(before["supervisor"]["pid"].get<int>(), SIGKILL);
  const auto gone = [&](const Json& rank) {
    return !is_alive({rank["pid"].get<int>(), rank["startTime"].get<uint64_t>()});
  };
  EXPECT_TRUE(eventually([&] { return gone(before["ranks"][0]) && gone(before["ranks"][1]); }, 5));
  client_->call("run.kill", {{"dir", dir}});  // their own `sleep` may be left
}

TEST_F(StopTest, KillEndsLeftoversAndNoBystander) {
  const std::string dir = start(command_spec(kStubborn));
  ASSERT_TRUE(eventually([&] { return stubborn_are_ready(dir); }));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const Json before = state(dir);
  ::kill(before["guard"]["pid"].get<int>(), SIGKILL);
  ::kill(before["supervisor"]["pid"].get<int>(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return client_->call("run.get", {{"dir", dir}})["interrupted"] == true; }));
  ASSERT_FALSE(processes(dir).empty()) << "nothing was left to be killed";

  // A bystander whose pid a dead rank had, and one that belongs to another folder.
  const int recycled = ::fork();
  if (recycled == 0) ::execl("/bin/sleep", "sleep", "60", nullptr);
  const int other = ::fork();
  if (other == 0) {
    ::setenv(kRunVariable, (dir + "-other").c_str(), 1);
    ::execl("/bin/sleep", "sleep", "60", nullptr);
  }
  Json forged = before;
  forged["ranks"][0]["pid"] = recycled;
  replace_file(dir + "/state.json", to_line(forged));

  const Json killed = client_->call("run.kill", {{"dir", dir}});
  EXPECT_FALSE(killed["killed"].empty());
  EXPECT_TRUE(killed["left"].empty());
  EXPECT_TRUE(processes(dir).empty());
  EXPECT_TRUE(process_start_time(recycled).has_value());
  EXPECT_TRUE(process_start_time(other).has_value());
  for (const int pid : {recycled, other}) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

TEST_F(StopTest, ARunWhoseFolderWasDeletedEnds) {
  const std::string dir = start(command_spec("trap '' TERM; while :; do sleep 0.1; done"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ASSERT_FALSE(processes(dir).empty());
  ASSERT_TRUE(eventually([&] {  // a file may be made in it meanwhile
    std::error_code failed;
    std::filesystem::remove_all(dir, failed);
    return !failed && !std::filesystem::exists(dir);
  }));
  EXPECT_TRUE(eventually([&] { return processes(dir).empty(); }, 25));
}

}  // namespace
}  // namespace trainyard::test
