// Runs that wait on their head without a client: for a slot of their group, and for GPUs of a
// stand-in for NVIDIA's library.
#include "agent/supervise/start_queue.h"

#include <signal.h>

#include <filesystem>

#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

class WaitingRuns : public ClusterTest {
 protected:
  WaitingRuns() {
    write_file(folder_.file("nvml"), "gpus 2\n");
    client_ =
        std::make_unique<Client>("export LD_LIBRARY_PATH='" TRAINYARD_NVML_STAND_IN "' NVML_STAND_IN='" +
                                 folder_.file("nvml") + "' TRAINYARD_GPU_LOCKS='" + folder_.file("locks") + "'; ");
  }

  /// Writes its name to the order of starts, and goes on until a file with its name is there.
  Json spec_of(const std::string& name) const {
    Json spec = command_spec("echo " + name + "=$CUDA_VISIBLE_DEVICES >> '" + folder_.file("order") +
                                 "'; while [ ! -e '" + folder_.file(name) + "' ]; do sleep 0.05; done",
                             1);
    spec["id"] = name;
    return spec;
  }
  Json with_slot(const std::string& name, int place, int slots = 1) const {
    Json spec = spec_of(name);
    spec["queue"] = {{"by", "ada@laptop"}, {"slots", {{"group", "sweep-lr"}, {"count", slots}, {"place", place}}}};
    return spec;
  }
  Json on_gpus(const std::string& name, const std::vector<int>& count, const std::vector<int>& of) const {
    Json spec = spec_of(name);
    spec["gpus"] = count;
    spec["queue"] = {{"by", "ada@laptop"}, {"nodes", {{{"host", "gpu1"}, {"gpus", of}}}}};
    return spec;
  }
  void let_end(const std::string& name) const { write_file(folder_.file(name), ""); }
  std::string order() const { return text(folder_.file("order")); }
  bool waits_for(const std::string& dir, const std::string& text) const {
    return eventually([&] {
      const Json now = state(dir);
      return now.value("phase", "") == "queued" && now.value("waiting", "").find(text) != std::string::npos;
    });
  }
};

TEST_F(WaitingRuns, ShareTheSlotsOfTheirGroupInTheOrderOfTheirPlaces) {
  const std::string first = start(with_slot("a", 1));
  ASSERT_TRUE(wait_for_phase(first, "running"));
  EXPECT_FALSE(state(first).contains("waiting"));
  const std::string third = start(with_slot("c", 3));
  const std::string second = start(with_slot("b", 2));
  ASSERT_TRUE(waits_for(second, "waiting for other runs of sweep-lr to end: 1st in the queue; 1 at a time"));
  ASSERT_TRUE(waits_for(third, "2nd in the queue; 1 at a time"));
  client_ = std::make_unique<Client>();  // what waits, waits without its client
  let_end("a");
  ASSERT_TRUE(wait_for_phase(second, "running"));
  EXPECT_EQ(state(third)["phase"], "queued");
  EXPECT_EQ(ended(first)["phase"], "finished");
  let_end("b");
  let_end("c");
  EXPECT_EQ(ended(third)["phase"], "finished");
  EXPECT_EQ(order(), "a=\nb=\nc=\n");
  EXPECT_GE(state(third)["started"].get<double>(), state(second)["ended"].get<double>() - 0.01);
}

TEST_F(WaitingRuns, AreStoppedBeforeTheyBegin) {
  const std::string first = start(with_slot("a", 1)), second = start(with_slot("b", 2));
  const std::string third = start(with_slot("c", 3));
  ASSERT_TRUE(waits_for(second, "1st in the queue"));
  client_->call("run.stop", {{"dir", second}, {"mode", "checkpoint"}, {"by", "ada@laptop"}});
  const Json stopped = ended(second);
  EXPECT_EQ(stopped["phase"], "stopped");
  EXPECT_EQ(stopped["exitCode"], 75);
  EXPECT_EQ(stopped["reason"], "stopped while it waited in the queue");
  EXPECT_FALSE(stopped.contains("waiting"));
  EXPECT_TRUE(events(second, "started").empty());
  ASSERT_TRUE(waits_for(third, "1st in the queue"));
  let_end("a");
  let_end("c");
  EXPECT_EQ(ended(third)["phase"], "finished");
  EXPECT_EQ(ended(first)["phase"], "finished");
  EXPECT_EQ(order(), "a=\nc=\n");
}

TEST_F(WaitingRuns, AreOutOfTheQueueWhenTheirSupervisorIsKilled) {
  const std::string first = start(with_slot("a", 1)), second = start(with_slot("b", 2));
  const std::string third = start(with_slot("c", 3));
  ASSERT_TRUE(waits_for(third, "2nd in the queue"));
  ::kill(state(second)["supervisor"]["pid"].get<int>(), SIGKILL);
  ASSERT_TRUE(waits_for(third, "1st in the queue"));
  EXPECT_TRUE(eventually([&] { return client_->call("run.get", {{"dir", second}})["interrupted"] == true; }));
  let_end("a");
  let_end("c");
  EXPECT_EQ(ended(third)["phase"], "finished");
  EXPECT_EQ(ended(first)["phase"], "finished");
}

TEST_F(WaitingRuns, TakeGpusThatAreFreeAndSayWhoHoldsTheOthers) {
  Client other("export TRAINYARD_GPU_LOCKS='" + folder_.file("locks") + "'; ");
  const Json gpus = client_->call("host.sample")["gpus"];
  ASSERT_EQ(gpus.size(), 2U);
  const Json name{{"index", 0}, {"uuid", gpus[0]["uuid"]}};
  const std::string locks = other.call("gpus.take", {{"gpus", {name}}, {"run", "theirs"}})["locks"];

  const std::string first = start(on_gpus("a", {0}, {0, 1}));  // one of both
  ASSERT_TRUE(wait_for_phase(first, "running"));
  EXPECT_EQ((*read_json_object(first + "/run.json"))["gpus"], Json({1}));
  EXPECT_TRUE(eventually([&] { return order() == "a=1\n"; })) << order();
  const std::string both = start(on_gpus("b", {0, 1}, {0, 1}));
  ASSERT_TRUE(waits_for(both, "waiting for GPUs 0, 1: 1st in the queue; held by run theirs (process "));
  const std::string last = start(on_gpus("c", {0}, {1, 0}));
  ASSERT_TRUE(waits_for(last, "waiting for a GPU: 2nd in the queue, behind ada@laptop; held by "));
  EXPECT_EQ(client_->call("host.sample")["waiting"].size(), 2U);

  other.call("gpus.give_back", {{"locks", locks}});  // kept for the start ahead
  let_end("a");
  ASSERT_TRUE(wait_for_phase(both, "running"));
  EXPECT_EQ(state(last)["phase"], "queued");
  const Json held = client_->call("host.sample")["gpus"][0]["held_by"];
  EXPECT_EQ(held["run"], "b");
  EXPECT_EQ(held["pid"], state(both)["supervisor"]["pid"]);
  let_end("b");
  let_end("c");
  EXPECT_EQ(ended(last)["phase"], "finished");
  EXPECT_EQ(order(), "a=1\nb=0,1\nc=1\n");
  EXPECT_EQ(ended(first)["phase"], "finished");
  EXPECT_EQ(ended(both)["phase"], "finished");
  EXPECT_TRUE(client_->call("host.sample")["waiting"].empty());
}

TEST_F(WaitingRuns, QueueAgainWhereTheirTicketWasRemoved) {
  const std::string first = start(on_gpus("a", {0, 1}, {0, 1}));
  ASSERT_TRUE(wait_for_phase(first, "running"));
  const std::string second = start(on_gpus("b", {0}, {0, 1}));
  ASSERT_TRUE(waits_for(second, "1st in the queue"));
  for (const auto& ticket : std::filesystem::directory_iterator(folder_.file("locks/queue"))) {
    std::filesystem::remove(ticket.path());
  }
  EXPECT_TRUE(eventually([&] { return client_->call("host.sample")["waiting"].size() == 1; }));
  let_end("a");
  let_end("b");
  EXPECT_EQ(ended(second)["phase"], "finished");
  EXPECT_EQ(ended(first)["phase"], "finished");
}

// As on a full disk: a folder stands where run.json is to be written.
TEST_F(WaitingRuns, KeepTheirTurnWhereTheyCannotBegin) {
  const std::string first = start(on_gpus("a", {0}, {0}));
  ASSERT_TRUE(wait_for_phase(first, "running"));
  const std::string second = start(on_gpus("b", {0}, {0}));
  ASSERT_TRUE(waits_for(second, "held by run a"));
  const std::string file = second + "/run.json", kept = second + "/kept.json";
  std::filesystem::rename(file, kept);
  std::filesystem::create_directory(file);
  let_end("a");
  ASSERT_TRUE(waits_for(second, "waiting, and trying again, since its turn cannot be taken: ")) << state(second);
  std::filesystem::remove(file);
  std::filesystem::rename(kept, file);
  let_end("b");
  EXPECT_EQ(ended(second)["phase"], "finished");
  EXPECT_EQ((*read_json_object(file))["gpus"], Json::array({0}));
  EXPECT_EQ(order(), "a=0\nb=0\n");
}

TEST_F(WaitingRuns, NameGpusThatNobodyCanTake) {
  write_file(folder_.file("nvml"), "gpus 2\nlost 1\n");
  const std::string dir = start(on_gpus("a", {0, 1}, {0, 1}));
  ASSERT_TRUE(waits_for(dir, "waiting for GPUs 0, 1: 1st in the queue; GPU 1 does not work"));
  const double begun = state(dir)["started"];
  EXPECT_TRUE(eventually([&] { return state(dir)["started"].get<double>() > begun; }));  // no time of it counts
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", ""}});
  const Json stopped = ended(dir);
  EXPECT_LT(stopped["ended"].get<double>() - stopped["started"].get<double>(), 0.5);
}

TEST_F(WaitingRuns, KeepTheirGpusInTheGuardOfAKilledSupervisor) {
  Json spec = on_gpus("a", {0}, {0});
  spec["argv"] = {"/bin/sh", "-c", "trap '' TERM HUP; exec sleep 600"};
  const std::string first = start(spec);
  ASSERT_TRUE(wait_for_phase(first, "running"));
  const std::string second = start(on_gpus("b", {0}, {0}));
  ASSERT_TRUE(waits_for(second, "held by run a"));
  ::kill(state(first)["supervisor"]["pid"].get<int>(), SIGKILL);
  ASSERT_TRUE(wait_for_phase(second, "running"));
  EXPECT_TRUE(processes(first).empty());
  let_end("b");
  EXPECT_EQ(ended(second)["phase"], "finished");
}

TEST_F(WaitingRuns, OfTheHeadOfAClusterTakeItsGpus) {
  Json spec = spread_script("echo on=$CUDA_VISIBLE_DEVICES; sleep 0.2");
  spec["ranks"] = 1;
  spec["nodes"].erase(1);
  spec["nodes"][0]["slots"] = 1;
  spec["nodes"][0]["gpus"] = {0};
  spec["queue"] = {{"by", "ada@laptop"}, {"nodes", {{{"host", "gpu1"}, {"gpus", {1}}}}}};
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ((*read_json_object(dir + "/run.json"))["nodes"][0]["gpus"], Json({1}));
  EXPECT_NE(text(dir + "/logs/rank-0.log").find("on=1"), std::string::npos);
}

TEST_F(WaitingRuns, RefuseWhatNobodyCanWaitFor) {
  const auto refusal = [&](const Json& queue, const Json& gpus) {
    Json spec = spec_of("a");
    spec["gpus"] = gpus;
    spec["queue"] = queue;
    return client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}})["message"]
        .get<std::string>();
  };
  EXPECT_NE(refusal(Json::object(), nullptr).find("says nothing to wait for"), std::string::npos);
  const auto gpus = [](const std::vector<int>& of) {
    return Json{{"nodes", Json::array({{{"host", "gpu1"}, {"gpus", of}}})}};
  };
  EXPECT_NE(refusal(gpus({0, 1}), nullptr).find("spec.queue.nodes must list"), std::string::npos);
  EXPECT_NE(refusal(gpus({0}), {0, 1}).find("spec.queue.nodes must list"), std::string::npos);
  const Json outside{{"group", "../x"}, {"count", 1}, {"place", 1}};
  EXPECT_NE(refusal({{"slots", outside}}, nullptr).find("must be a plain name"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("work")));
}

}  // namespace
}  // namespace trainyard::test
