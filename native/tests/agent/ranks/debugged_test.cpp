// How a rank that waits for a debugger is started, and when that is said. A stand-in for debugpy
// shows the words that it gets: the real one is driven by test/local/runs/debug.test.ts.
#include "agent/ranks/debugged.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "agent/ranks/own_program.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

using DebuggedTest = RunTest;
using Words = std::vector<std::string>;

/// The words before the Python text, and those after it.
std::pair<Words, Words> around_the_text(const Words& line) {
  const auto text = std::ranges::find_if(
      line, [](const std::string& word) { return word.find("import debugpy") != std::string::npos; });
  if (text == line.end()) return {line, {}};
  return {Words(line.begin(), text), Words(text + 1, line.end())};
}

TEST(DebuggedCommand, KeepsTheInterpreterWithItsOptions) {
  const auto [before, after] = around_the_text(
      debugged({"env", "A=b", "python3", "-u", "train.py", "--lr", "1"}, {0, 4, false}, "rank 0", 5678));
  EXPECT_EQ(before, (Words{"env", "A=b", "python3", "-u", "-Xfrozen_modules=off", "-c"}));
  EXPECT_EQ(after, (Words{"rank 0", "5678", "train.py", "--lr", "1"}));
}

TEST(DebuggedCommand, LeavesAScriptsInterpreterToAShell) {
  const auto [before, after] = around_the_text(debugged({"torchrun", "train.py"}, {0, 0, true}, "rank 0", 5678));
  ASSERT_EQ(before.size(), 4U);
  EXPECT_EQ(before.front(), "sh");
  EXPECT_EQ(after, (Words{"rank 0", "5678", "torchrun", "train.py"}));
}

TEST(DebuggedCommand, IsOfOneRankAlone) {
  RunSpec spec;
  spec.is_trainer = false;
  spec.id = "run-1";
  spec.ranks = 3;
  spec.argv = {"python3", "train.py"};
  EXPECT_FALSE(debug_of(program_description(spec, 1, {47001}), 1));
  spec.debug = DebugSpec{1, 1, false};
  const Json program = program_description(spec, 1, {47001});
  EXPECT_FALSE(debug_of(program, 0));
  const auto debug = debug_of(program, 1);
  ASSERT_TRUE(debug);
  EXPECT_EQ(debug->target, 1);
  EXPECT_THROW(debugged({"python3"}, *debug, "rank 1", 5678), FieldError);
}

/// A stand-in for the package `debugpy`, below `folder`: listens as asked, and waits for a file.
void make_debugpy(const std::string& folder) {
  std::filesystem::create_directories(folder + "/debugpy");
  write_file(folder + "/debugpy/__init__.py", "");
  write_file(folder + "/debugpy/__main__.py", R"(
import os, socket, sys, time
print(os.environ['RANK'], *sys.argv[3:], flush=True)
host, port = sys.argv[2].split(':')
time.sleep(1)
server = socket.create_server((host, int(port)))
while not os.path.exists(os.environ['TRAINYARD_RUN_DIR'] + '/attached'):
    time.sleep(0.05)
)");
}

TEST_F(DebuggedTest, WaitsAndSaysWhereOnceItListens) {
  make_debugpy(folder_.path());
  Json spec = command_spec("");
  spec["argv"] = {"env", "PYTHONPATH=" + folder_.path(), TRAINYARD_PYTHON, "-u", "train.py", "x"};
  spec["debug"] = {{"rank", 1}, {"target", 4}};
  spec["cwd"] = folder_.path();
  write_file(folder_.file("train.py"), "print('plain')\n");
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return !events(dir, "debugger_waiting").empty(); }));
  const Json waiting = events(dir, "debugger_waiting").front();
  EXPECT_EQ(waiting["rank"], 1);
  EXPECT_EQ(waiting["folder"], std::filesystem::canonical(folder_.path()).string());
  EXPECT_TRUE(listens_on_loopback(waiting["port"]));
  EXPECT_TRUE(wait_for_phase(dir, "running"));
  write_file(dir + "/attached", "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(events(dir, "debugger_waiting").size(), 1U);
  EXPECT_EQ(text(dir + "/logs/rank-0.log"), "plain\n");
  EXPECT_EQ(text(dir + "/logs/rank-1.log"), "1 --wait-for-client train.py x\n");
  EXPECT_FALSE(listens_on_loopback(waiting["port"]));
}

TEST_F(DebuggedTest, AnInterpreterWithoutDebugpyEndsTheRunWithAdvice) {
  Json spec = command_spec("", 1);
  spec["argv"] = {TRAINYARD_PYTHON, "train.py"};
  spec["debug"] = {{"rank", 0}, {"target", 1}};
  spec["limits"]["maxRestarts"] = 3;
  const std::string dir = start(spec);
  const Json last = ended(dir);
  EXPECT_TRUE(events(dir, "debugger_waiting").empty());
  EXPECT_EQ(last["exitCode"], 4);
  EXPECT_EQ(last["generation"], 1);
  const auto reason = last["reason"].get<std::string>();
  EXPECT_NE(reason.find(" has no debugpy"), std::string::npos) << reason;
  EXPECT_NE(reason.find(" -m pip install debugpy"), std::string::npos) << reason;
}

TEST_F(DebuggedTest, AScriptRunsByTheInterpreterOfItsFirstLine) {
  make_debugpy(folder_.path());
  const std::string script = folder_.file("launch");
  write_file(script, std::string("#!") + TRAINYARD_PYTHON + "\nprint('never')\n");
  ASSERT_EQ(::chmod(script.c_str(), 0700), 0);
  Json spec = command_spec("", 1);
  spec["argv"] = {"launch", "train.py"};
  spec["debug"] = {{"rank", 0}, {"target", 0}, {"script", true}};
  spec["env"] = {{"PYTHONPATH", folder_.path()}};
  spec["prologue"] = "PATH=" + folder_.path() + ":$PATH";
  const std::string dir = start(spec);
  ASSERT_TRUE(eventually([&] { return !events(dir, "debugger_waiting").empty(); }));
  write_file(dir + "/attached", "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(text(dir + "/logs/rank-0.log"), "0 --wait-for-client " + script + " train.py\n");
}

TEST_F(DebuggedTest, IsRefusedOfATrainingARankThatIsNoneAndBesideASilenceTimeout) {
  const auto refused = [&](const Json& spec) {
    const auto error = client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
    return error["message"].get<std::string>();
  };
  Json spec = command_spec("");
  spec["debug"] = {{"rank", 2}, {"target", 0}};
  EXPECT_NE(refused(spec).find("spec.debug"), std::string::npos);
  spec["debug"] = {{"rank", 1}, {"target", 0}};
  spec["limits"]["silenceTimeout"] = 5;
  EXPECT_NE(refused(spec).find("silenceTimeout must be absent"), std::string::npos);
  Json training = trainer_spec("exit 0", "exit 0");
  training["debug"] = {{"rank", 0}, {"target", 0}};
  EXPECT_NE(refused(training).find("spec.debug must be absent"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::test
