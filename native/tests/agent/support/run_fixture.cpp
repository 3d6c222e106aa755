#include "tests/agent/support/run_fixture.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard::test {

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/trainyard-agent-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw file_error("make", pattern);
  path_ = std::filesystem::canonical(pattern).string();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool eventually(const std::function<bool()>& condition, double seconds) {
  const double deadline = monotonic_seconds() + seconds;
  while (!condition()) {
    if (monotonic_seconds() > deadline) return false;
    sleep_ms(20);
  }
  return true;
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::trunc) << text; }

void RunTest::TearDown() {
  client_.reset();
  for (const std::string& dir : dirs_) {
    EXPECT_TRUE(eventually([&] { return processes(dir).empty(); }, 5)) << "processes of " << dir << " are left";
    const Json last = state(dir);
    const auto supervisor = recorded_supervisor(last);
    if (supervisor) {
      EXPECT_TRUE(eventually([&] { return !is_alive(*supervisor); }, 5)) << "the supervisor is left";
    }
  }
}

Json RunTest::command_spec(const std::string& script, int ranks) {
  return {{"version", 1},
          {"profile", {{"name", "local"}, {"kind", "local"}}},
          {"program", "command"},
          {"argv", {"/bin/sh", "-c", script}},
          {"ranks", ranks},
          {"threadsPerRank", 1},
          {"env", Json::object()},
          {"evaluator", nullptr},
          {"tensorboard", false},
          {"paths", {{"trainer", "/bin/sh"}, {"mpiexec", TRAINYARD_MPIEXEC}, {"agent", TRAINYARD_AGENT}}},
          {"limits", {{"hangTimeout", 300}, {"startTimeout", 60}, {"maxRestarts", 0}}},
          {"launcher", "fork"},
          {"label", "test"}};
}

Json RunTest::trainer_spec(const std::string& train, const std::string& eval, int ranks) {
  const std::string path = folder_.file("trainer.sh");
  write_file(path, "#!/bin/sh\nverb=$1\ncase $verb in\ntrain)\n" + train + "\n;;\neval)\n" + eval + "\n;;\nesac\n");
  ::chmod(path.c_str(), 0700);
  Json spec = command_spec("", ranks);
  spec["program"] = "trainer";
  spec["argv"] = {"train", "--model", "resnet20"};
  spec["paths"]["trainer"] = path;
  return spec;
}

std::string RunTest::start(const Json& spec) {
  const Json answer = client_->call("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
  dirs_.push_back(answer["dir"].get<std::string>());
  return dirs_.back();
}

Json RunTest::state(const std::string& dir) const {
  const auto json = read_json_object(dir + "/state.json");
  return json ? *json : Json::object();
}

Json RunTest::ended(const std::string& dir, double seconds) {
  EXPECT_TRUE(eventually([&] { return is_final_phase(state(dir).value("phase", "")); }, seconds))
      << text(dir + "/events.jsonl");
  return state(dir);
}

bool RunTest::wait_for_phase(const std::string& dir, const std::string& phase) {
  return eventually([&] { return state(dir).value("phase", "") == phase; });
}

std::string RunTest::text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::vector<Json> RunTest::events(const std::string& dir, const std::string& kind) {
  std::vector<Json> found;
  std::istringstream lines(text(dir + "/events.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    Json event = Json::parse(line);
    if (kind.empty() || event["kind"] == kind) found.push_back(std::move(event));
  }
  return found;
}

}  // namespace trainyard::test
