// Whole runs of own programs whose output is watched.
#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/files.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

using SilenceTestCase = RunTest;

TEST_F(SilenceTestCase, AProgramThatSaysNothingIsEndedAndStartedAnew) {
  Json spec = command_spec(
      "echo begun\nif [ $TRAINYARD_GENERATION = 2 ]; then exit 0; fi\n"
      "if [ $PMI_RANK = 1 ]; then kill -STOP $$; fi\nsleep 0.9; echo more; sleep 60");
  spec["limits"]["silenceTimeout"] = 2;
  spec["limits"]["maxRestarts"] = 1;
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "finished");
  EXPECT_EQ(last["generation"], 2);
  const std::vector<Json> stalled = events(dir, "stalled");
  ASSERT_EQ(stalled.size(), 1U);
  EXPECT_EQ(stalled[0]["silent"], true);
  EXPECT_GE(stalled[0]["seconds"], 1.5);
  EXPECT_EQ(stalled[0]["waiting_for"][0]["rank"], 1);
  const std::vector<Json> hang = events(dir, "hang");
  ASSERT_EQ(hang.size(), 1U);
  EXPECT_EQ(hang[0]["ranks"], Json::array({1}));
  EXPECT_EQ(hang[0]["suspects"], Json::array({1}));
}

TEST_F(SilenceTestCase, WithoutARestartTheVerdictNamesTheSilentRanks) {
  Json spec = command_spec("if [ $PMI_RANK = 0 ]; then sleep 1; echo late; fi\nsleep 60");
  spec["limits"]["silenceTimeout"] = 2;
  const Json last = ended(start(spec));
  EXPECT_EQ(last["phase"], "failed");
  const auto reason = last["reason"].get<std::string>();
  EXPECT_TRUE(
      reason.starts_with("no rank wrote to its log, and no figure came, for 2 s (silenceTimeout); "
                         "silent longest: rank 1 on " +
                         host_name() + ", for "))
      << reason;
}

TEST_F(SilenceTestCase, OutputAfterALongSilenceIsToldAndTheProgramGoesOn) {
  Json spec = command_spec("sleep 3.5; echo again; sleep 1", 1);
  spec["limits"]["silenceTimeout"] = 4;
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(events(dir, "stalled").size(), 1U);
  ASSERT_EQ(events(dir, "moving").size(), 1U);
  EXPECT_NEAR(events(dir, "moving")[0]["seconds"].get<double>(), 3.5, 0.6);
  EXPECT_TRUE(events(dir, "hang").empty());
}

TEST_F(SilenceTestCase, ASlowPrinterAndOneWithFiguresAreLeftAlone) {
  const std::string slow = "for n in 1 2 3 4; do sleep 1.2; echo $n; done";
  const std::string figures =
      "for n in 1 2 3 4; do sleep 1.2; echo '{\"loss\":1}' >> $TRAINYARD_RUN_DIR/metrics.jsonl; done";
  for (const std::string& script : {slow, figures}) {
    Json spec = command_spec(script, 1);
    spec["limits"]["silenceTimeout"] = 3;
    const std::string dir = start(spec);
    EXPECT_EQ(ended(dir)["phase"], "finished") << script;
    EXPECT_TRUE(events(dir, "stalled").empty()) << script;
  }
}

TEST_F(SilenceTestCase, AStopHasItsOwnLimit) {
  Json spec =
      command_spec("trap 'sleep 3; exit 3' TERM; touch \"$TRAINYARD_RUN_DIR/up\"; while :; do sleep 0.05; done", 1);
  spec["limits"]["silenceTimeout"] = 2;
  spec["limits"]["stopGrace"] = 20;
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return file_exists(dir + "/up"); }));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}});
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 75);
  EXPECT_TRUE(events(dir, "hang").empty());
}

TEST_F(SilenceTestCase, IsNotForOurTrainer) {
  Json spec = trainer_spec("true", "");
  spec["limits"]["silenceTimeout"] = 2;
  EXPECT_THROW(start(spec), std::exception);
}

}  // namespace
}  // namespace trainyard::test
