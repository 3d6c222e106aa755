// Runs of two nodes that wait for GPUs on both without a client. Each node has locks of its own and
// a stand-in for NVIDIA's library.
#include <signal.h>

#include "agent/gpus/gpu_locks.h"
#include "tests/agent/support/cluster_fixture.h"
#include "tests/agent/support/relay.h"

namespace trainyard::test {
namespace {

constexpr double kLostSeconds = 20 + 15;  // until a node without a connection is lost

class WaitingNodes : public ClusterTest {
 protected:
  WaitingNodes() {
    write_file(folder_.file("nvml"), "gpus 2\n");
    client_ = node_client("locks1");
    second_client_ = node_client("locks2");
  }
  std::unique_ptr<Client> node_client(const std::string& locks) const {
    return std::make_unique<Client>("export LD_LIBRARY_PATH='" TRAINYARD_NVML_STAND_IN "' NVML_STAND_IN='" +
                                    folder_.file("nvml") + "' TRAINYARD_GPU_LOCKS='" + folder_.file(locks) + "'; ");
  }

  /// One rank on each node: says its GPU, and goes on until a file with the run's name is there.
  /// `first`, `second`: the GPUs of the nodes of which it takes one each.
  Json spec_of(const std::string& name, const std::vector<int>& first, const std::vector<int>& second) const {
    Json spec = spread_script("echo on=$CUDA_VISIBLE_DEVICES; while [ ! -e '" + folder_.file(name) +
                              "' ]; do sleep 0.05; done");
    spec["id"] = name;
    spec["ranks"] = 2;
    for (Json& node : spec["nodes"]) {
      node["slots"] = 1;
      node["gpus"] = {0};
    }
    spec["queue"] = {{"by", name + "@laptop"},
                     {"nodes", {{{"host", "gpu1"}, {"gpus", first}}, {{"host", "gpu2"}, {"gpus", second}}}}};
    return spec;
  }
  /// `port`: of another way to the head; 0: none.
  void join(const std::string& dir, int port = 0) {
    second_client_->call("run.join", join_params(dir, port == 0 ? "127.0.0.2" : "127.0.0.1", port));
  }
  std::string start_both(const Json& spec) {
    const std::string dir = start(spec);
    join(dir);
    return dir;
  }
  /// Somebody else's lock of a GPU there.
  GpuLocks hold(Client& node, const std::string& locks, int index) const {
    const Json gpu = node.call("host.sample")["gpus"][static_cast<size_t>(index)];
    const GpuName name{index, gpu["uuid"].get<std::string>()};
    return {{name}, {"theirs", ""}, folder_.file(locks)};
  }
  GpuLocks hold_first(int index) const { return hold(*client_, "locks1", index); }
  GpuLocks hold_second(int index) const { return hold(*second_client_, "locks2", index); }
  Json holder(Client& node, int index) const {
    return node.call("host.sample")["gpus"][static_cast<size_t>(index)]["held_by"];
  }
  bool is_taken_on_second(int index, const std::string& dir) {
    return eventually([&] {
      const Json held = holder(*second_client_, index);
      return held.is_object() && held["pid"] == second_join(dir).pid;
    });
  }
  void let_end(const std::string& name) const { write_file(folder_.file(name), ""); }
  bool waits_for(const std::string& dir, const std::string& text, double seconds = 20) const {
    return eventually(
        [&] {
          const Json now = state(dir);
          return now.value("phase", "") == "queued" && now.value("waiting", "").find(text) != std::string::npos;
        },
        seconds);
  }
  /// No lock and no ticket is left on either node.
  void expect_nothing_left() {
    for (Client* node : {client_.get(), second_client_.get()}) {
      const Json sample = node->call("host.sample");
      for (const Json& gpu : sample["gpus"]) EXPECT_TRUE(gpu["held_by"].is_null()) << gpu;
      EXPECT_TRUE(sample["waiting"].empty()) << sample["waiting"];
    }
  }

  std::unique_ptr<Client> second_client_;
};

TEST_F(WaitingNodes, TakeTheirGpusOneByOneAndBeginTogether) {
  GpuLocks first = hold_first(0), second0 = hold_second(0), second1 = hold_second(1);
  const std::string dir = start_both(spec_of("a", {0}, {0, 1}));
  ASSERT_TRUE(waits_for(dir, "waiting for GPU 0 on gpu1: 1st in the queue; held by run theirs (process "))
      << state(dir);
  ASSERT_TRUE(waits_for(dir, "; and waiting for a GPU on gpu2: 1st in the queue; held by run theirs (process "));
  second1.give_back();
  ASSERT_TRUE(is_taken_on_second(1, dir));
  ASSERT_TRUE(eventually([&] { return state(dir).value("waiting", "").find("gpu2") == std::string::npos; }));
  EXPECT_EQ(state(dir)["phase"], "queued");
  EXPECT_EQ(holder(*second_client_, 1)["run"], "a");
  client_ = node_client("locks1");  // what waits, waits without its client
  first.give_back();
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  EXPECT_FALSE(state(dir).contains("waiting"));
  const Json nodes = (*read_json_object(dir + "/run.json"))["nodes"];
  EXPECT_EQ(nodes[0]["gpus"], Json::array({0}));
  EXPECT_EQ(nodes[1]["gpus"], Json::array({1}));
  EXPECT_EQ(holder(*client_, 0)["pid"], state(dir)["supervisor"]["pid"]);
  EXPECT_TRUE(eventually([&] { return second_client_->call("host.sample")["waiting"].empty(); }));
  ASSERT_TRUE(is_taken_on_second(1, dir));
  second0.give_back();
  let_end("a");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(text(dir + "/logs/rank-0.log"), "on=0\n");
  EXPECT_EQ(text(dir + "/logs/rank-1.log"), "on=1\n");
  expect_nothing_left();
}

TEST_F(WaitingNodes, HaveOneOrderWhereTwoRunsComeToThemInOppositeOrders) {
  GpuLocks first = hold_first(0), second = hold_second(0);
  std::vector<GpuLocks> slots;
  std::vector<std::string> dirs;
  for (const std::string& name : {"a", "b"}) {
    const std::string locks = folder_.file("locks1/slots/" + name);
    slots.emplace_back(std::vector<GpuName>{{0, "slot-0"}}, GpuHolder{"theirs", ""}, locks);
    Json spec = spec_of(name, {0}, {0});
    spec["queue"]["slots"] = {{"group", name}, {"count", 1}, {"place", 1}};
    dirs.push_back(start_both(spec));
    ASSERT_TRUE(waits_for(dirs.back(), "waiting for other runs of " + name + " to end: 1st in the queue"));
  }
  const ProcessId late = second_join(dirs[0]);
  ASSERT_TRUE(signal_process(late, SIGSTOP));
  slots[0].give_back();
  ASSERT_TRUE(eventually([&] { return client_->call("host.sample")["waiting"].size() == 1; }));  // "a" is first here
  slots[1].give_back();
  ASSERT_TRUE(waits_for(dirs[1], "GPU 0 on gpu1: 2nd in the queue, behind a@laptop"));
  EXPECT_TRUE(waits_for(dirs[1], "GPU 0 on gpu2: 1st in the queue"));  // and last there
  ASSERT_TRUE(signal_process(late, SIGCONT));
  ASSERT_TRUE(waits_for(dirs[0], "GPU 0 on gpu2: "));
  EXPECT_EQ(second_client_->call("host.sample")["waiting"].size(), 2U);
  let_end("a");
  let_end("b");
  second.give_back();
  first.give_back();
  for (const std::string& dir : dirs) EXPECT_EQ(ended(dir, 40)["phase"], "finished") << state(dir);
  expect_nothing_left();
}

TEST_F(WaitingNodes, AreFreeAgainWhereTheRunIsStopped) {
  const GpuLocks first = hold_first(0);
  const std::string dir = start_both(spec_of("a", {0}, {0}));
  ASSERT_TRUE(is_taken_on_second(0, dir));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "ada@laptop"}});
  const Json stopped = ended(dir);
  EXPECT_EQ(stopped["phase"], "stopped");
  EXPECT_EQ(stopped["exitCode"], 75);
  EXPECT_EQ(stopped["reason"], "stopped while it waited in the queue");
  EXPECT_FALSE(stopped.contains("waiting"));
  EXPECT_TRUE(events(dir, "started").empty());
  EXPECT_TRUE(holder(*second_client_, 0).is_null());
  for (Client* node : {client_.get(), second_client_.get()}) EXPECT_TRUE(node->call("host.sample")["waiting"].empty());
}

TEST_F(WaitingNodes, AreWaitedForWhenTheyAreLostAndQueueAnew) {
  GpuLocks first = hold_first(0);
  const std::string dir = start_both(spec_of("a", {0}, {0}));
  for (const bool is_lost : {true, false}) {
    ASSERT_TRUE(is_taken_on_second(0, dir));
    ASSERT_TRUE(signal_process(second_join(dir), SIGKILL));
    ASSERT_TRUE(eventually([&] { return holder(*second_client_, 0).is_null(); }));
    if (is_lost) {
      ASSERT_TRUE(waits_for(dir, "waiting for node gpu2", kLostSeconds)) << state(dir);
      EXPECT_TRUE(client_->call("host.sample")["waiting"].empty()) << "it would keep others from what it cannot use";
    }
    join(dir);
  }
  ASSERT_TRUE(is_taken_on_second(0, dir));
  ASSERT_TRUE(waits_for(dir, "waiting for GPU 0 on gpu1: 1st in the queue"));
  first.give_back();
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  EXPECT_EQ(state(dir)["generation"], 1);
  let_end("a");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  expect_nothing_left();
}

TEST_F(WaitingNodes, KeepWhatTheyTookWhenOnlyTheirConnectionIsLost) {
  GpuLocks first = hold_first(0);
  const std::string dir = start(spec_of("a", {0}, {0}));
  Relay relay(client_->call("run.joining", {{"dir", dir}})["port"]);
  join(dir, relay.port());
  ASSERT_TRUE(is_taken_on_second(0, dir));
  ASSERT_TRUE(waits_for(dir, "waiting for GPU 0 on gpu1"));
  const ProcessId before = second_join(dir);
  EXPECT_GT(relay.cut(), 0);
  first.give_back();
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  EXPECT_EQ(second_join(dir).pid, before.pid);
  EXPECT_EQ(holder(*second_client_, 0)["pid"], before.pid);
  let_end("a");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  expect_nothing_left();
}

TEST_F(WaitingNodes, TakeGpusAsSparesToo) {
  GpuLocks second = hold_second(0);
  Json spec = spec_of("a", {0}, {0, 1});
  spec["ranks"] = 1;
  spec["nodes"][1]["spare"] = true;
  const std::string dir = start_both(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  EXPECT_EQ((*read_json_object(dir + "/run.json"))["nodes"][1]["gpus"], Json::array({1}));
  EXPECT_TRUE(is_taken_on_second(1, dir));
  EXPECT_TRUE(eventually([&] { return second_client_->call("host.sample")["waiting"].empty(); }));
  let_end("a");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  second.give_back();
  expect_nothing_left();
}

TEST_F(WaitingNodes, FailTheRunWhereTheyCannotQueue) {
  second_client_ = node_client("nvml");  // which is a file
  const Json last = ended(start_both(spec_of("a", {0}, {0})));
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_TRUE(last["reason"].get<std::string>().starts_with("node gpu2: ")) << last["reason"];
  EXPECT_FALSE(last.contains("waiting"));
  EXPECT_TRUE(holder(*client_, 0).is_null());
}

TEST_F(WaitingNodes, TryAgainWhereTheirQueueCannotBeWritten) {
  GpuLocks second = hold_second(0);
  const std::string dir = start_both(spec_of("a", {0}, {0}));
  ASSERT_TRUE(waits_for(dir, "waiting for GPU 0 on gpu2: 1st in the queue")) << state(dir);
  const std::string queue = folder_.file("locks2/queue");
  std::filesystem::remove_all(queue);
  write_file(queue, "a file");
  ASSERT_TRUE(waits_for(dir, "waiting for gpu2, which cannot take its GPUs and tries again: ")) << state(dir);
  std::filesystem::remove(queue);
  ASSERT_TRUE(waits_for(dir, "waiting for GPU 0 on gpu2: 1st in the queue")) << state(dir);
  second.give_back();
  let_end("a");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  expect_nothing_left();
}

TEST_F(WaitingNodes, FailTheRunSoonWhereTheyCannotJoin) {
  const GpuLocks first = hold_first(0);
  Json spec = spec_of("a", {0}, {0});
  spec["limits"]["startTimeout"] = 1;
  const Json last = ended(start(spec));
  EXPECT_EQ(last["phase"], "failed");
  EXPECT_NE(last["reason"].get<std::string>().find("node gpu2 did not join within 1 s"), std::string::npos)
      << last["reason"];
  EXPECT_FALSE(last.contains("waiting"));
}

TEST_F(WaitingNodes, AreThoseThatTakeGpus) {
  const auto refusal = [&](const std::function<void(Json&)>& change) {
    Json spec = spec_of("a", {0}, {0});
    change(spec);
    return client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}})["message"]
        .get<std::string>();
  };
  EXPECT_NE(refusal([](Json& spec) { spec["queue"]["nodes"].erase(1); }).find("spec.queue.nodes does not name gpu2"),
            std::string::npos);
  EXPECT_NE(
      refusal([](Json& spec) { spec["nodes"][1]["gpus"] = nullptr; }).find("spec.queue.nodes must name the nodes"),
      std::string::npos);
  EXPECT_NE(
      refusal([](Json& spec) { spec["nodes"][1]["gpus"] = {0, 1}; }).find("spec.queue.nodes lists 1 GPUs of gpu2"),
      std::string::npos);
}

}  // namespace
}  // namespace trainyard::test
