#include "tests/agent/support/cluster_fixture.h"

#include <cstdlib>
#include <filesystem>

namespace trainyard::test {

namespace fs = std::filesystem;

namespace {

/// Ports of this process's share of the tests alone. Beside it another share may stop a supervisor,
/// which then listens and says nothing: nobody may find it in the place of one that was killed.
std::string port_range() {
  const char* share = std::getenv("GTEST_SHARD_INDEX");
  const int first = 48000 + 100 * (share == nullptr ? 0 : std::atoi(share));
  return std::to_string(first) + "-" + std::to_string(first + 99);
}

}  // namespace

void ClusterTest::TearDown() {
  RunTest::TearDown();
  for (const char* node : {"work", "second"}) {
    std::error_code none;
    for (const auto& run : fs::directory_iterator(folder_.file(std::string(node) + "/runs"), none)) {
      const RunFolder folder(run.path().string());
      EXPECT_TRUE(eventually([&] { return processes(folder.dir()).empty(); }, 5)) << "processes are left on " << node;
      for (const char* host : {"gpu1", "gpu2"}) {
        EXPECT_TRUE(eventually(
            [&] {
              const auto record = read_join_record(folder, host);
              return !record || !record->lives;
            },
            5))
            << "agent join is left on " << host;
      }
    }
  }
}

Json ClusterTest::spread_spec(const std::vector<std::string>& argv) const {
  Json spec = command_spec("", 4);
  spec["argv"] = argv;
  spec["launcher"] = "manual";
  spec["nodes"] = {{{"host", "gpu1"}, {"address", "127.0.0.2"}, {"slots", 2}, {"gpus", nullptr}},
                   {{"host", "gpu2"}, {"address", "127.0.0.3"}, {"slots", 2}, {"gpus", nullptr}}};
  spec["interface"] = "lo";
  spec["portRange"] = port_range();
  spec["minNodes"] = 1;
  return spec;
}

std::string ClusterTest::start_spread(const Json& spec) {
  const std::string dir = start(spec);
  join_second(dir);
  return dir;
}

Json ClusterTest::join_params(const std::string& dir, const std::string& address, int port) const {
  const Json joining = client_->call("run.joining", {{"dir", dir}});
  const fs::path tools = fs::path(TRAINYARD_MPIEXEC).parent_path();
  return {
      {"workdir", folder_.file("second")},
      {"id", fs::path(dir).filename().string()},
      {"host", "gpu2"},
      {"head", {{"address", address}, {"port", port != 0 ? Json(port) : joining["port"]}}},
      {"key", joining["key"]},
      {"paths", {{"agent", TRAINYARD_AGENT}, {"trainer", "/bin/sh"}, {"proxy", (tools / "hydra_pmi_proxy").string()}}}};
}

std::string ClusterTest::join_second(const std::string& dir, const std::string& address, int port) {
  const Json answer = client_->call("run.join", join_params(dir, address, port));
  EXPECT_EQ(answer["dir"], second(dir));
  return answer["dir"].get<std::string>();
}

std::string ClusterTest::second(const std::string& dir) const {
  return folder_.file("second/runs/" + fs::path(dir).filename().string());
}

ProcessId ClusterTest::second_join(const std::string& dir) const {
  const auto record = read_join_record(RunFolder(second(dir)), "gpu2");
  return record && record->lives ? record->process : ProcessId{};
}

}  // namespace trainyard::test
