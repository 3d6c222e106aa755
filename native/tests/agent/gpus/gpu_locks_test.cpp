// Locks of GPUs, in a folder of the test's own: taken by two agents, passed on to a run, freed.
#include "agent/gpus/gpu_locks.h"

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

constexpr int kTaken = 5;

Json gpu(int index) { return {{"index", index}, {"uuid", "GPU-test-" + std::to_string(index)}}; }

Json gpus(const std::vector<int>& indices) {
  Json list = Json::array();
  for (const int index : indices) list.push_back(gpu(index));
  return list;
}

class GpuLocking : public ClusterTest {
 protected:
  GpuLocking() : prefix_("export TRAINYARD_GPU_LOCKS='" + folder_.file("locks") + "'; ") {
    client_ = std::make_unique<Client>(prefix_);
  }

  static std::string take(Client& client, const Json& gpus, const std::string& run = "") {
    return client.call("gpus.take", {{"gpus", gpus}, {"run", run}})["locks"];
  }
  static Json refusal(Client& client, const Json& gpus) { return client.error("gpus.take", {{"gpus", gpus}}); }
  bool is_free(int index) {
    Client other(prefix_);
    const Json answer = [&]() -> Json {
      try {
        return other.call("gpus.take", {{"gpus", gpus({index})}});
      } catch (const std::runtime_error&) {
        return nullptr;
      }
    }();
    return !answer.is_null();
  }
  Json said(int index) const {
    const auto json = read_json_object(folder_.file("locks/GPU-test-" + std::to_string(index)));
    return json ? *json : Json::object();
  }
  std::string start_on(const Json& spec, const std::string& locks) {
    return client_->call("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}, {"gpuLocks", locks}})["dir"];
  }

  std::string prefix_;
};

TEST_F(GpuLocking, AreOneConnectionsUntilItGivesThemBackOrEnds) {
  Client other(prefix_);
  const std::string locks = take(*client_, gpus({0, 1}), "run-a");
  const Json error = refusal(other, gpus({2, 1}));
  EXPECT_EQ(error["code"], kTaken);
  const std::string message = error["message"];
  EXPECT_NE(message.find("GPU 1 of "), std::string::npos) << message;
  EXPECT_NE(message.find("run run-a (process " + std::to_string(client_->pid()) + ")"), std::string::npos) << message;
  take(*client_, gpus({2}));  // what the refused one had got of its list is free again
  EXPECT_EQ(said(0)["run"], "run-a");
  struct stat info{};
  ASSERT_EQ(::stat(folder_.file("locks").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);

  client_->call("gpus.give_back", {{"locks", locks}});
  client_->call("gpus.give_back", {{"locks", locks}});
  take(other, gpus({0, 1}));
  client_ = std::make_unique<Client>(prefix_);
  EXPECT_EQ(take(*client_, gpus({2})).size(), 32U);  // the connection that held it is gone
}

TEST_F(GpuLocking, RefuseListsThatNameNoGpus) {
  for (const Json& wrong : {Json::array(), Json("0"), Json::array({{{"index", -1}, {"uuid", ""}}}),
                            Json::array({{{"index", 0}}}), gpus({0, 0})}) {
    EXPECT_EQ(refusal(*client_, wrong)["code"], -32602) << wrong;
  }
  const Json unknown = client_->error("run.start", {{"workdir", folder_.file("work")},
                                                    {"spec", command_spec("true", 1)},
                                                    {"gpuLocks", "00000000000000000000000000000000"}});
  EXPECT_EQ(unknown["code"], 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("work")));
}

TEST_F(GpuLocking, RefuseAFolderThatOthersMayWriteIn) {
  std::filesystem::create_directory(folder_.file("locks"));
  ::chmod(folder_.file("locks").c_str(), 0777);
  const std::string message = refusal(*client_, gpus({0}))["message"];
  EXPECT_NE(message.find("may be written by everybody"), std::string::npos) << message;
}

TEST_F(GpuLocking, ARunHoldsThemUntilItIsOverWithoutItsClient) {
  const std::string go = folder_.file("go");
  Json spec = command_spec("while [ ! -e '" + go + "' ]; do sleep 0.05; done", 1);
  spec["id"] = "holds";
  const std::string dir = start_on(spec, take(*client_, gpus({3})));
  client_ = std::make_unique<Client>(prefix_);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const Json holder = said(3);
  EXPECT_EQ(holder["run"], "holds");
  EXPECT_EQ(holder["dir"], dir);
  EXPECT_EQ(holder["pid"], state(dir)["supervisor"]["pid"]);
  EXPECT_FALSE(is_free(3));
  write_file(go, "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_TRUE(is_free(3));
}

TEST_F(GpuLocking, ASupervisorThatIsKilledLeavesThemToItsGuard) {
  // The rank's program ignores what it can, so that the guard has something to end.
  Json spec = command_spec("trap '' TERM HUP; exec sleep 600", 1);
  const std::string dir = start_on(spec, take(*client_, gpus({4})));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const auto supervisor = state(dir)["supervisor"]["pid"].get<int>();
  ::kill(supervisor, SIGKILL);
  EXPECT_TRUE(eventually([&] { return is_free(4); }));
  EXPECT_TRUE(processes(dir).empty());  // never free while a rank lives
}

TEST_F(GpuLocking, AStartThatFailsFreesThem) {
  Json spec = command_spec("true", 1);
  spec["paths"]["mpiexec"] = "/nowhere/mpiexec";
  const std::string locks = take(*client_, gpus({5}));
  EXPECT_EQ(
      client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}, {"gpuLocks", locks}})["code"], 1);
  EXPECT_TRUE(is_free(5));
}

TEST_F(GpuLocking, SupervisorsTakeOnlyDescriptors) {
  EXPECT_EQ(std::system(TRAINYARD_AGENT " supervise --run-dir /nowhere --gpu-locks 5x 2>/dev/null") >> 8, 2);
  EXPECT_EQ(std::system(TRAINYARD_AGENT " supervise --run-dir /nowhere --gpu-locks 99 2>/dev/null") >> 8, 2);
}

}  // namespace
}  // namespace trainyard::test
