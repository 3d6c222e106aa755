// Deleting runs: what the contract names goes, on every node; everything else stays.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/run/folder/run_content.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using DeleteTest = ClusterTest;

TEST(RunContent, IsWhatTheContractNames) {
  for (const char* ours :
       {"run.json", "about.json", "state.json.tmp-123", "logs/rank-12.log", "logs/notify.log", "gpus/gpu1.local.jsonl",
        "train/events.out.tfevents.1.host", "exits/gen-1-rank-0.json", "processes/gen-2-command.json",
        "processes/gen-2-ended", "processes/gen-2-given-up", "heartbeats/eval", "nodes/gpu2/join.state.json",
        "nodes/gpu2/not-joined.json", "checkpoints/step-00000120/manifest.json", "checkpoints/.tmp-step-00000120/x",
        "checkpoints/.tmp-removed-step-00000040/model.safetensors",
        "checkpoints/.tmp-removed-.old-step-00000040/state.json"}) {
    EXPECT_TRUE(is_run_file(ours)) << ours;
  }
  for (const char* theirs : {"notes.txt", "run.json.bak", "logs/rank-x.log", "logs/mine.log", "train/a.jpg",
                             "logs/sub/rank-1.log", "checkpoints/best.pt", "checkpoints/step-00000120/notes.txt",
                             "checkpoints/step-/state.json", "state.json.tmp-"}) {
    EXPECT_FALSE(is_run_file(theirs)) << theirs;
  }
}

TEST_F(DeleteTest, AFolderOfOnesOwnKeepsEverythingThatIsNotTheRuns) {
  const std::string project = folder_.file("project");
  fs::create_directories(project + "/checkpoints/step-00000007");
  // A trainer that is killed while it removes a checkpoint leaves this.
  fs::create_directories(project + "/checkpoints/.tmp-removed-step-00000003");
  fs::create_directories(project + "/data");
  fs::create_directories(folder_.file("away"));
  for (const char* name : {"notes.txt", "data/a.jpg", "checkpoints/best.pt"}) write_file(project + "/" + name, name);
  write_file(folder_.file("away/events.out.tfevents.1"), "behind a link");
  fs::create_directory_symlink(folder_.file("away"), project + "/train");
  Json spec = command_spec("echo out > out.txt; echo 1 > checkpoints/step-00000007/state.json", 1);
  spec["dir"] = project;
  const std::string dir = start(spec);
  ASSERT_EQ(ended(dir)["phase"], "finished");

  const Json gone = client_->call("run.delete", {{"dir", dir}});
  EXPECT_EQ(gone["stays"], Json({"checkpoints/best.pt", "data/", "notes.txt", "out.txt", "train"}));
  EXPECT_EQ(gone["stayCount"], 5);
  EXPECT_EQ(gone["folderStays"], true);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(project)) left.push_back(entry.path().filename().string());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"checkpoints", "data", "notes.txt", "out.txt", "train"}));
  EXPECT_EQ(text(project + "/checkpoints/best.pt"), "checkpoints/best.pt");
  EXPECT_FALSE(fs::exists(project + "/checkpoints/step-00000007"));
  EXPECT_FALSE(fs::exists(project + "/checkpoints/.tmp-removed-step-00000003"));
  EXPECT_TRUE(fs::exists(folder_.file("away/events.out.tfevents.1")));
}

TEST_F(DeleteTest, EverythingGoesWhereThatIsAskedForFromAFolderThatWasMadeForTheRun) {
  fs::create_directories(folder_.file("away"));
  write_file(folder_.file("away/kept"), "behind a link");
  const std::string script =
      "mkdir -p out checkpoints/mine; echo w > out/mine.pt; echo w > checkpoints/mine/a; ln -s '" +
      folder_.file("away") + "' link";
  const std::string dir = start(command_spec(script, 1));
  ASSERT_EQ(ended(dir)["phase"], "finished");
  const Json would = client_->call("run.delete", {{"dir", dir}, {"look", true}});
  EXPECT_EQ(would["stays"], Json({"checkpoints/mine/", "link", "out/"}));
  EXPECT_EQ(would["folderStays"], false);
  EXPECT_TRUE(fs::exists(dir + "/run.json"));
  const Json gone = client_->call("run.delete", {{"dir", dir}, {"everything", true}});
  EXPECT_EQ(gone["stayCount"], 0);
  EXPECT_FALSE(fs::exists(dir));
  EXPECT_TRUE(fs::exists(folder_.file("away/kept")));

  const std::string own = folder_.file("project");
  fs::create_directories(own);
  write_file(own + "/notes.txt", "mine");
  Json spec = command_spec("true", 1);
  spec["dir"] = own;
  ASSERT_EQ(ended(start(spec))["phase"], "finished");
  EXPECT_EQ(client_->call("run.delete", {{"dir", own}, {"look", true}})["folderStays"], true);
  EXPECT_EQ(client_->call("run.delete", {{"dir", own}, {"everything", true}})["stays"], Json::array({"notes.txt"}));
  EXPECT_TRUE(fs::exists(own + "/notes.txt"));
}

TEST_F(DeleteTest, AnEmptyFolderStaysUnlessItWasMadeForTheRun) {
  for (const bool own : {true, false}) {
    const std::string project = folder_.file(own ? "own" : "made");
    if (own) fs::create_directories(project);
    Json spec = command_spec("true", 1);
    spec["dir"] = project;
    const std::string dir = start(spec);
    ASSERT_EQ(ended(dir)["phase"], "finished");
    EXPECT_EQ(client_->call("run.delete", {{"dir", dir}})["folderStays"], own);
    EXPECT_EQ(fs::exists(project), own);
  }
  const std::string usual = start(command_spec("true", 1));
  ASSERT_EQ(ended(usual)["phase"], "finished");
  client_->call("run.delete", {{"dir", usual}});
  EXPECT_FALSE(fs::exists(usual));
}

TEST_F(DeleteTest, WhatARunLeftOnItsOtherNodesGoesToo) {
  const std::string dir =
      start_spread(spread_script("while [ ! -e '" + folder_.file("enough") + "' ]; do sleep 0.1; done"));
  const std::string there = second(dir);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const Json params{{"workdir", folder_.file("second")}, {"id", fs::path(dir).filename().string()}, {"host", "gpu2"}};
  const Json refused = client_->error("run.forget", params);
  EXPECT_EQ(refused["code"], 2);
  EXPECT_NE(refused["message"].get<std::string>().find("takes part in the run"), std::string::npos) << refused;
  write_file(folder_.file("enough"), "");
  ASSERT_EQ(ended(dir)["phase"], "finished");
  client_->call("run.delete", {{"dir", dir}});
  ASSERT_TRUE(fs::exists(there + "/nodes/gpu2/join.json"));
  EXPECT_EQ(client_->call("run.forget", params)["stayCount"], 0);
  EXPECT_FALSE(fs::exists(there));
  EXPECT_EQ(client_->call("run.forget", params)["stayCount"], 0) << "there is nothing left to be done";
}

}  // namespace
}  // namespace trainyard::test
