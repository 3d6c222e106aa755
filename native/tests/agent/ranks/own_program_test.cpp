// What a program that is not our trainer finds, how its prologue runs before it, and how it is
// stopped.
#include "agent/ranks/own_program.h"

#include <sys/stat.h>

#include <set>

#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

class OwnProgramTest : public RunTest {
 protected:
  /// Whether each of two ranks has made its up-RANK in the run folder.
  static bool both_are_up(const std::string& dir) {
    return eventually([&] { return file_exists(dir + "/up-0") && file_exists(dir + "/up-1"); });
  }

  void stop(const std::string& dir) { client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "me"}}); }
};

RunSpec two_nodes() {
  RunSpec spec;
  spec.id = "run-1";
  spec.is_trainer = false;
  spec.ranks = 3;
  spec.max_restarts = 2;
  spec.nodes.resize(2);
  spec.nodes[0].host = "a";
  spec.nodes[0].address = "10.0.0.1";
  spec.nodes[0].slots = 2;
  spec.nodes[1].host = "b";
  spec.nodes[1].address = "10.0.0.2";
  return spec;
}

TEST(ProgramNames, TellARankWhoItIsInEveryLaunchersWords) {
  const RunSpec spec = two_nodes();
  const auto names = program_names(program_description(spec, 2, {47001, 47002, 47003, 47004}), {2, 0});
  const std::map<std::string, std::string> expected{
      {"RANK", "2"},
      {"WORLD_SIZE", "3"},
      {"LOCAL_RANK", "0"},
      {"LOCAL_WORLD_SIZE", "1"},
      {"GROUP_RANK", "1"},
      {"GROUP_WORLD_SIZE", "2"},
      {"NODE_RANK", "1"},
      {"NNODES", "2"},
      {"ROLE_RANK", "2"},
      {"ROLE_WORLD_SIZE", "3"},
      {"MASTER_ADDR", "10.0.0.1"},
      {"MASTER_PORT", "47001"},
      {"TORCHELASTIC_RESTART_COUNT", "1"},
      {"TORCHELASTIC_MAX_RESTARTS", "2"},
      {"TORCHELASTIC_RUN_ID", "run-1"},
      {"OMPI_COMM_WORLD_RANK", "2"},
      {"OMPI_COMM_WORLD_SIZE", "3"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
      {"OMPI_COMM_WORLD_NODE_RANK", "1"},
      {"SLURM_PROCID", "2"},
      {"SLURM_NTASKS", "3"},
      {"SLURM_LOCALID", "0"},
      {"SLURM_NODEID", "1"},
      {"SLURM_NNODES", "2"},
      {"TF_CONFIG",
       R"({"cluster":{"worker":["10.0.0.1:47002","10.0.0.1:47003","10.0.0.2:47004"]},"task":{"type":"worker","index":2}})"}};
  EXPECT_EQ(names, expected);
}

TEST(ProgramNames, LeaveOutAHeadWithoutRanks) {
  RunSpec spec = two_nodes();
  spec.nodes[0].slots = 0;
  spec.ranks = 1;
  const auto names = program_names(program_description(spec, 1, {47001}), {0, 0});
  EXPECT_EQ(names.at("MASTER_ADDR"), "10.0.0.2");
  EXPECT_EQ(names.at("NNODES"), "1");
  EXPECT_EQ(names.at("NODE_RANK"), "0");
}

TEST(ProgramNames, KeepTensorFlowsRolesAndTheUsersOwnValues) {
  RunSpec spec = two_nodes();
  spec.nodes[0].tasks = {"chief:2222", "ps"};
  spec.nodes[1].tasks = {"evaluator"};
  spec.env = {{"MASTER_PORT", "1"}};
  const Json description = program_description(spec, 1, {47001, 47002, 47003});
  const auto chief = program_names(description, {0, 0});
  EXPECT_EQ(chief.at("TF_CONFIG"),
            R"({"cluster":{"chief":["10.0.0.1:2222"],"ps":["10.0.0.1:47003"]},"task":{"type":"chief","index":0}})");
  EXPECT_FALSE(chief.contains("MASTER_PORT"));
  EXPECT_NE(program_names(description, {2, 0}).at("TF_CONFIG").find(R"("task":{"type":"evaluator","index":0})"),
            std::string::npos);
}

TEST(ProgramNames, GiveALauncherItsNodeAndNoRank) {
  RunSpec spec = two_nodes();
  spec.per_node = true;
  spec.ranks = 2;
  spec.nodes[0].slots = 1;
  spec.nodes[1].workers = 4;
  const auto names = program_names(program_description(spec, 1, {47001}), {1, 0});
  const std::map<std::string, std::string> expected{{"GROUP_RANK", "1"},
                                                    {"GROUP_WORLD_SIZE", "2"},
                                                    {"NODE_RANK", "1"},
                                                    {"NNODES", "2"},
                                                    {"MASTER_ADDR", "10.0.0.1"},
                                                    {"MASTER_PORT", "47001"},
                                                    {"TORCHELASTIC_RESTART_COUNT", "0"},
                                                    {"TORCHELASTIC_MAX_RESTARTS", "2"},
                                                    {"PET_NNODES", "2"},
                                                    {"PET_NODE_RANK", "1"},
                                                    {"PET_NPROC_PER_NODE", "4"},
                                                    {"PET_MASTER_ADDR", "10.0.0.1"},
                                                    {"PET_MASTER_PORT", "47001"}};
  EXPECT_EQ(names, expected);
}

TEST(FreePorts, AreDifferentAndOfTheRange) {
  const std::vector<int> all = free_ports(47300, 47309, 10);
  const std::set<int> different(all.begin(), all.end());
  EXPECT_EQ(different.size(), all.size());
  EXPECT_GE(all.size(), 5U);
  EXPECT_GE(*different.begin(), 47300);
  EXPECT_LE(*different.rbegin(), 47309);
  EXPECT_EQ(free_ports(0, 0, 3).size(), 3U);
}

TEST_F(OwnProgramTest, FindsItsNamesAndNoneOfAnotherLaunch) {
  Json spec = command_spec("env > \"$TRAINYARD_RUN_DIR/env-$RANK\"");
  spec["env"] = {{"LOCAL_WORLD_SIZE", "mine"}, {"SLURM_JOB_NAME", "mine"}};
  ::setenv("SLURM_JOB_ID", "7", 1);
  client_ = std::make_unique<Client>();  // whose runs inherit that
  ::unsetenv("SLURM_JOB_ID");
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  const std::string env = text(dir + "/env-1");
  for (const std::string& line :
       {"\nWORLD_SIZE=2\n", "\nLOCAL_RANK=1\n", "\nMASTER_ADDR=127.0.0.1\n", "\nLOCAL_WORLD_SIZE=mine\n",
        "\nSLURM_JOB_NAME=mine\n", "\nTORCHELASTIC_RESTART_COUNT=0\n"}) {
    EXPECT_NE(("\n" + env).find(line), std::string::npos) << line << env;
  }
  EXPECT_EQ(env.find("SLURM_JOB_ID"), std::string::npos);
  EXPECT_NE(env.find("MASTER_PORT="), std::string::npos);
}

TEST_F(OwnProgramTest, ALauncherSeesAllGpusAndNothingOfMpiexec) {
  Json spec = command_spec("env > \"$TRAINYARD_RUN_DIR/env\"", 1);
  spec["perNode"] = true;
  spec["workers"] = 3;
  spec["gpus"] = {3, 1, 0};
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  const std::string env = "\n" + text(dir + "/env");
  EXPECT_NE(env.find("\nCUDA_VISIBLE_DEVICES=3,1,0\n"), std::string::npos) << env;
  EXPECT_NE(env.find("\nPET_NPROC_PER_NODE=3\n"), std::string::npos) << env;
  for (const char* name : {"\nPMI_RANK=", "\nPMI_FD=", "\nMPI_LOCALRANKID=", "\nRANK=", "\nOMPI_"}) {
    EXPECT_EQ(env.find(name), std::string::npos) << name;
  }
}

TEST_F(OwnProgramTest, IsLookedUpOnPathBeforeARunIsMade) {
  Json spec = command_spec("");
  spec["argv"] = {"no-such-program", "x"};
  const auto error = client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
  EXPECT_EQ(error["code"], 2) << error;
  EXPECT_NE(error["message"].get<std::string>().find("no-such-program is not on PATH on"), std::string::npos) << error;
  spec["argv"] = {"/nowhere/program"};
  const auto other = client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
  EXPECT_NE(other["message"].get<std::string>().find("/nowhere/program does not exist"), std::string::npos) << other;
  write_file(folder_.file("mine"), "#!/bin/sh\nexit 0\n");
  ASSERT_EQ(::chmod(folder_.file("mine").c_str(), 0700), 0);
  spec["argv"] = {"mine"};
  spec["env"] = {{"PATH", folder_.path() + ":/usr/bin:/bin"}};
  EXPECT_EQ(ended(start(spec))["phase"], "finished");
}

TEST_F(OwnProgramTest, RunsInWhatItsPrologueLeaves) {
  Json spec = command_spec("echo \"$WORD $# $(pwd)\"; exit 0", 1);
  spec["argv"].push_back("a b");
  spec["prologue"] = "export WORD=set\ncd /usr";
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(text(dir + "/logs/rank-0.log"), "set 0 /usr\n");
}

TEST_F(OwnProgramTest, APrologueThatFailsIsNamedWithItsOutputAndNotTriedAgain) {
  for (const std::string& prologue : {"echo no such module; false", "echo no such module.; exit 9"}) {
    Json spec = command_spec("touch \"$TRAINYARD_RUN_DIR/ran\"");
    spec["prologue"] = prologue;
    spec["limits"]["maxRestarts"] = 3;
    const std::string dir = start(spec);
    const Json last = ended(dir);
    EXPECT_EQ(last["exitCode"], 4);
    EXPECT_EQ(last["generation"], 1);
    const auto reason = last["reason"].get<std::string>();
    for (const std::string& part : {std::string("rank "), prologue, std::string(": no such module. Correct it in")}) {
      EXPECT_NE(reason.find(part), std::string::npos) << reason;
    }
    EXPECT_EQ(text(dir + "/ran"), "");
  }
}

TEST_F(OwnProgramTest, AProgramThatIsMissingAfterThePrologueSaysSo) {
  Json spec = command_spec("", 1);
  spec["argv"] = {"no-such-program"};
  spec["prologue"] = "true";
  const Json last = ended(start(spec));
  EXPECT_EQ(last["exitCode"], 4);
  EXPECT_NE(last["reason"].get<std::string>().find("cannot start 'no-such-program'"), std::string::npos)
      << last["reason"];
}

/// A stand-in for a Python environment: its python3 prints a word.
std::string environment_that_says(const std::string& folder, const std::string& word) {
  make_private_folders(folder + "/bin");
  replace_file(folder + "/bin/python3", "#!/bin/sh\necho " + word + " \"$VIRTUAL_ENV\" \"$PYTHONHOME\"\n");
  ::chmod((folder + "/bin/python3").c_str(), 0700);
  return folder;
}

TEST_F(OwnProgramTest, FindsItsPackagesFirstAlsoAfterAPrologueThatSetsAnotherPath) {
  const std::string environment = environment_that_says(folder_.path() + "/environment", "own");
  for (const char* prologue :
       {"", "PATH=/usr/bin:/bin VIRTUAL_ENV=other PYTHONHOME=other", "export PATH=/usr/bin:/bin"}) {
    Json spec = command_spec("", 1);
    spec["argv"] = {"python3"};
    spec["environment"] = {{"path", environment}};
    spec["prologue"] = prologue;
    spec["env"] = {{"PYTHONHOME", "/nowhere"}};
    const std::string dir = start(spec);
    EXPECT_EQ(ended(dir)["phase"], "finished") << prologue;
    EXPECT_EQ(text(dir + "/logs/rank-0.log"), "own " + environment + " \n") << prologue;
  }
}

TEST_F(OwnProgramTest, ANodeWithoutItsPackagesSaysSoAndTriesNoSecondTime) {
  Json spec = command_spec("exit 0", 1);
  spec["environment"] = {{"path", folder_.path() + "/gone"}};
  spec["limits"]["maxRestarts"] = 3;
  const Json last = ended(start(spec));
  EXPECT_EQ(last["exitCode"], 4);
  EXPECT_EQ(last["generation"], 1);
  EXPECT_NE(last["reason"].get<std::string>().find("the packages of this run are not on this node"), std::string::npos)
      << last["reason"];
}

TEST_F(OwnProgramTest, ItsExceptionIsTheReasonAndOneOfItsTextIsNotTriedAgain) {
  write_file(folder_.file("typo.py"), "import nosuchmodule\n");
  write_file(folder_.file("busy.py"), "raise OSError('the store is busy')\n");
  const auto run = [this](const std::string& script) {
    Json spec = command_spec("", 1);
    spec["argv"] = {TRAINYARD_PYTHON, folder_.file(script)};
    spec["limits"]["maxRestarts"] = 1;
    return start(spec);
  };
  const std::string typo = run("typo.py");
  const std::string busy = run("busy.py");
  const std::string who = "rank 0 on " + host_name() + " exited with code 1: ";
  const Json last = ended(typo);
  EXPECT_EQ(last["reason"], who + "ModuleNotFoundError: No module named 'nosuchmodule'");
  EXPECT_EQ(last["generation"], 1);
  EXPECT_EQ(events(typo, "rank_exited").front()["exception"], "ModuleNotFoundError: No module named 'nosuchmodule'");
  EXPECT_EQ(ended(busy)["reason"], who + "OSError: the store is busy");
  EXPECT_EQ(state(busy)["generation"], 2);
}

TEST_F(OwnProgramTest, TheTrainerAndItsEvaluatorHaveAPrologueToo) {
  Json spec =
      trainer_spec("echo \"train $WORD\"; until [ -s \"$TRAINYARD_RUN_DIR/logs/eval.log\" ]; do sleep 0.1; done",
                   "echo \"eval $WORD\"");
  spec["evaluator"] = {{"argv", {"eval"}}, {"threads", 1}, {"nice", 19}};
  spec["prologue"] = "export WORD=set";
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(text(dir + "/logs/rank-1.log"), "train set\n");
  EXPECT_EQ(text(dir + "/logs/eval.log"), "eval set\n");
}

TEST_F(OwnProgramTest, IsStoppedWhateverItsExitCodeIs) {
  Json spec = command_spec(
      "trap 'sleep 1; exit $RANK' TERM; touch \"$TRAINYARD_RUN_DIR/up-$RANK\"\n"
      "while :; do sleep 0.05; done");
  spec["limits"]["stopGrace"] = 20;
  spec["limits"]["maxRestarts"] = 3;
  const std::string dir = start(spec);
  ASSERT_TRUE(both_are_up(dir));
  stop(dir);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 75);
  EXPECT_EQ(last["generation"], 1);
}

TEST_F(OwnProgramTest, IsKilledAfterItsTimeToStop) {
  Json spec = command_spec("trap '' TERM; sh -c 'touch \"$TRAINYARD_RUN_DIR/up-$RANK\"; while :; do sleep 0.05; done'");
  spec["limits"]["stopGrace"] = 2;
  const std::string dir = start(spec);
  ASSERT_TRUE(both_are_up(dir));
  const double begun = monotonic_seconds();
  stop(dir);
  const Json last = ended(dir);
  EXPECT_GT(monotonic_seconds() - begun, 1.9);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 137);
  EXPECT_NE(last["reason"].get<std::string>().find("2 s after SIGTERM (stopGrace)"), std::string::npos);
}

// Lightning, for one, saves a checkpoint and ends with 0. It has more to train, so that it can be
// resumed.
TEST_F(OwnProgramTest, IsStoppedAlsoWhereItEndsWithZero) {
  Json spec = command_spec("trap 'exit 0' TERM; touch \"$TRAINYARD_RUN_DIR/up-$RANK\"; while :; do sleep 0.05; done");
  spec["limits"]["stopGrace"] = 20;
  const std::string dir = start(spec);
  ASSERT_TRUE(both_are_up(dir));
  stop(dir);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 75);
}

// SIGTERM ends the shell of a script at once. The program that it started gets one as well.
TEST_F(OwnProgramTest, WhatAScriptStartedIsStoppedToo) {
  write_file(folder_.file("train.sh"),
             "sh -c \"trap 'sleep 1; echo saved > saved; exit 0' TERM; echo > ready; while :; do sleep 0.05; done\"\n"
             "echo over\n");
  Json spec = command_spec("", 1);
  spec["argv"] = {"/bin/sh", folder_.file("train.sh")};
  spec["cwd"] = folder_.path();
  spec["limits"]["stopGrace"] = 20;
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return file_exists(folder_.file("ready")); }));
  stop(dir);
  const Json last = ended(dir);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["exitCode"], 75);
  EXPECT_EQ(text(folder_.file("saved")), "saved\n");
}

// A data loader's process that got SIGTERM too would make the script fail while it saves.
TEST_F(OwnProgramTest, ItsHelpersLiveWhileItSaves) {
  Json spec = command_spec(
      "sh -c 'trap \"echo > helper-was-asked\" TERM; while :; do sleep 0.05; done' &\n"
      "helper=$!; trap 'sleep 1; kill -0 $helper && echo saved > saved; exit 75' TERM\n"
      "sleep 0.2; echo > ready; while :; do sleep 0.05; done",
      1);
  spec["cwd"] = folder_.path();
  spec["limits"]["stopGrace"] = 2;
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return file_exists(folder_.file("ready")); }));
  stop(dir);
  ASSERT_TRUE(eventually([&] { return file_exists(folder_.file("saved")) || is_final_phase(state(dir)["phase"]); }));
  EXPECT_EQ(ended(dir)["phase"], "stopped");
  EXPECT_EQ(text(folder_.file("saved")), "saved\n");
}

}  // namespace
}  // namespace trainyard::test
