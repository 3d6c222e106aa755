// A node keeps a copy of the head's run folder, and becomes the head once that is gone.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/messages/rpc_error.h"
#include "agent/run/adopt_mirror.h"
#include "agent/run/folder/mirrored_files.h"
#include "agent/run/folder/shared_files.h"
#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> paths_of(const std::vector<MirroredFile>& files) {
  std::vector<std::string> paths;
  for (const MirroredFile& file : files) paths.push_back(file.path);
  return paths;
}

TEST(MirroredFiles, CheckpointsComeLastTheNewestFirstEachWithItsManifestBehindTheRest) {
  const TemporaryFolder folder;
  for (const char* path : {"run.json",
                           "state.json",
                           "metrics.jsonl",
                           "join.json",
                           "stop.json",
                           "supervisor.lock",
                           "tensorboard.json",
                           "nodes/gpu1/join.json",
                           "processes/gen-1-rank-0.json",
                           "heartbeats/rank-0",
                           "mirror/run.json",
                           "mirror.part",
                           "run.json.tmp-123",
                           "train/events.out.tfevents.1",
                           "out/best.pt",
                           "code/train.py",
                           "code/__pycache__/train.cpython-311.pyc",
                           "code/out/last.pt",
                           "checkpoints/.tmp-step-00000003/state.json",
                           "checkpoints/step-00000001/manifest.json",
                           "checkpoints/step-00000001/model.safetensors",
                           "checkpoints/step-00000002/manifest.json",
                           "checkpoints/step-00000002/model.safetensors",
                           "checkpoints/step-00000002/state.json"}) {
    fs::create_directories(fs::path(folder.file(path)).parent_path());
    write_file(folder.file(path), "x");
  }
  fs::create_symlink("/etc/passwd", folder.file("out/link"));
  fs::create_symlink("best.pt", folder.file("out/last"));
  write_file(folder.file("code.json"), R"({"files":[["train.py",1]],"links":[]})");
  const std::vector<MirroredFile> files = list_mirrored(folder.path());
  EXPECT_EQ(paths_of(files),
            (std::vector<std::string>{
                "code/out/last.pt", "metrics.jsonl", "out/best.pt", "out/last", "run.json", "state.json",
                "train/events.out.tfevents.1", "checkpoints/step-00000002/model.safetensors",
                "checkpoints/step-00000002/state.json", "checkpoints/step-00000002/manifest.json",
                "checkpoints/step-00000001/model.safetensors", "checkpoints/step-00000001/manifest.json"}));
  EXPECT_THROW(list_mirrored(folder.file("none")), Error);  // nothing is no folder without files
}

TEST(MirroredFiles, ANameThatLeadsElsewhereIsNone) {
  for (const char* path : {"", "/etc/passwd", "..", "a/../../b", "a//b", "./a", "a/", "nodes/gpu2/join.json",
                           "join.json", "mirror/run.json", "former/1/run.json", "a.tmp-7"}) {
    EXPECT_FALSE(is_mirrored(path)) << path;
  }
  EXPECT_FALSE(is_mirrored(std::string(2000, 'a')));
  EXPECT_TRUE(is_mirrored("logs/rank-0.log"));
}

class MirrorTest : public ClusterTest {
 protected:
  Json mirrored_spec(const std::string& script) const {
    Json spec = spread_script(script);
    spec["mirror"] = "gpu2";
    return spec;
  }

  bool has_copy(const std::string& dir, const std::string& path, const std::string& content) const {
    const std::string copy = mirror_folder(RunFolder(second(dir))) + "/" + path;
    return fs::exists(copy) && text(copy) == content;
  }

  /// As a machine without power leaves it: nothing of the run lives at the head.
  void end_head(const std::string& dir) const {
    const auto head = recorded_supervisor(*read_json_object(dir + "/state.json"));
    ASSERT_TRUE(head);
    ASSERT_TRUE(eventually([&] {
      for (const NamedProcess& one : find_marked(dir, {})) signal_process(one.process, SIGKILL);
      signal_process(*head, SIGKILL);
      return !is_alive(*head) && find_marked(dir, {}).empty();
    }));
  }

  Json adopt_params(const std::string& dir) const {
    return {{"workdir", folder_.file("second")}, {"id", fs::path(dir).filename().string()}, {"host", "gpu2"}};
  }
};

TEST_F(MirrorTest, TheCopyFollowsWhatIsWrittenReplacedAndRemoved) {
  const std::string dir = start_spread(mirrored_spec("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const std::string big(3 << 20, 'b');
  fs::create_directories(dir + "/out");
  fs::create_directories(dir + "/checkpoints/step-00000001");
  write_file(dir + "/out/big.bin", big);
  write_file(dir + "/metrics.jsonl", "{\"step\":1}\n");
  write_file(dir + "/checkpoints/step-00000001/model.safetensors", "weights");
  write_file(dir + "/checkpoints/step-00000001/manifest.json", "{}");
  ASSERT_TRUE(eventually([&] { return has_copy(dir, "out/big.bin", big); }));
  ASSERT_TRUE(eventually([&] { return !events(dir, "mirrored").empty(); }));
  EXPECT_EQ(events(dir, "mirrored")[0]["checkpoint"], "step-00000001");
  EXPECT_TRUE(has_copy(dir, "checkpoints/step-00000001/model.safetensors", "weights"));
  EXPECT_EQ((*read_json_object(mirror_folder(RunFolder(second(dir))) + "/state.json"))["phase"], "running");
  std::ofstream(dir + "/metrics.jsonl", std::ios::app) << "{\"step\":2}\n";
  write_file(dir + "/out/big.bin", "small");
  fs::permissions(dir + "/out/big.bin", fs::perms::owner_all);
  EXPECT_TRUE(eventually([&] { return has_copy(dir, "metrics.jsonl", "{\"step\":1}\n{\"step\":2}\n"); }));
  EXPECT_TRUE(eventually([&] { return has_copy(dir, "out/big.bin", "small"); }));
  const std::string copy = mirror_folder(RunFolder(second(dir)));
  EXPECT_EQ(::access((copy + "/out/big.bin").c_str(), X_OK), 0);
  EXPECT_FALSE(fs::exists(copy + "/join.json"));  // the key of the run stays where it is
  EXPECT_EQ(state(dir)["mirror"]["host"], "gpu2");
  write_file(dir + "/out/last.bin", "last");
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "test"}});
  EXPECT_EQ(ended(dir)["phase"], "stopped");
  // The copy knows how the run ended, and has what was written a moment before.
  EXPECT_TRUE(eventually([&] {
    const auto last = read_json_object(copy + "/state.json");
    return last && (*last)["phase"] == "stopped" && has_copy(dir, "out/last.bin", "last");
  }));
  EXPECT_TRUE(events(dir, "mirror_failed").empty());
  EXPECT_EQ(state(dir)["mirror"]["why"], nullptr);
}

TEST_F(MirrorTest, ACheckpointStaysUntilANewerOneIsWhole) {
  const std::string dir = start_spread(mirrored_spec("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  const std::string copy = mirror_folder(RunFolder(second(dir)));
  const auto path = [](int step, const char* file) {
    return "checkpoints/step-0000000" + std::to_string(step) + "/" + file;
  };
  const auto write = [&](int step, const char* file) {
    fs::create_directories(fs::path(dir + "/" + path(step, file)).parent_path());
    write_file(dir + "/" + path(step, file), std::to_string(step));
  };
  for (const char* file : {"model.safetensors", "manifest.json"}) write(1, file);
  ASSERT_TRUE(eventually([&] { return !events(dir, "mirrored").empty(); }));
  // The head has removed the first one before the second one is whole on the mirror.
  write(2, "model.safetensors");
  fs::remove_all(dir + "/checkpoints/step-00000001");
  ASSERT_TRUE(eventually([&] { return has_copy(dir, path(2, "model.safetensors"), "2"); }));
  sleep_ms(2500);  // two looks
  EXPECT_TRUE(has_copy(dir, path(1, "manifest.json"), "1"));
  EXPECT_EQ(events(dir, "mirrored").size(), 1U);
  write(2, "manifest.json");
  EXPECT_TRUE(eventually([&] { return !fs::exists(copy + "/checkpoints/step-00000001"); }));
  EXPECT_TRUE(has_copy(dir, path(2, "manifest.json"), "2"));
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "test"}});
  EXPECT_EQ(ended(dir)["phase"], "stopped");
}

TEST_F(MirrorTest, AHeadWhoseDiskFailsTakesNothingAway) {
  const std::string dir = start_spread(mirrored_spec("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  write_file(dir + "/kept.bin", "kept");
  ASSERT_TRUE(eventually([&] { return has_copy(dir, "kept.bin", "kept"); }));
  const std::string away = folder_.file("away");
  fs::rename(dir + "/run.json", away);  // as a disk that is not there any more
  fs::remove(dir + "/kept.bin");
  EXPECT_TRUE(eventually([&] { return !events(dir, "mirror_failed").empty(); }));
  EXPECT_TRUE(has_copy(dir, "kept.bin", "kept"));
  fs::rename(away, dir + "/run.json");
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "test"}});
  EXPECT_EQ(ended(dir)["phase"], "stopped");
}

TEST_F(MirrorTest, ANodeThatConnectsAnewGetsOnlyWhatItLacks) {
  const std::string dir = start_spread(mirrored_spec("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  write_file(dir + "/kept.bin", std::string(1 << 20, 'k'));
  const std::string copy = mirror_folder(RunFolder(second(dir))) + "/kept.bin";
  ASSERT_TRUE(eventually([&] { return has_copy(dir, "kept.bin", std::string(1 << 20, 'k')); }));
  struct stat before{}, after{};
  ASSERT_EQ(::stat(copy.c_str(), &before), 0);
  const ProcessId join = second_join(dir);
  ASSERT_TRUE(signal_process(join, SIGKILL));
  ASSERT_TRUE(eventually([&] { return second_join(dir).pid == 0; }));
  join_second(dir);
  write_file(dir + "/new.bin", "new");
  ASSERT_TRUE(eventually([&] { return has_copy(dir, "new.bin", "new"); }));
  ASSERT_EQ(::stat(copy.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);  // the same file: a second copy has another inode
  ended(dir);                              // the ranks there were killed
}

TEST_F(MirrorTest, TheNodeTakesTheHeadsPlaceOnceThatIsGone) {
  const std::string dir = start_spread(mirrored_spec("sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  write_file(dir + "/weights.bin", "weights");
  ASSERT_TRUE(eventually([&] { return has_copy(dir, "weights.bin", "weights"); }));
  const Json listed = client_->call("mirror.list", {{"workdir", folder_.file("second")}});
  ASSERT_EQ(listed["runs"].size(), 1U);
  EXPECT_EQ(listed["runs"][0]["id"], fs::path(dir).filename().string());
  EXPECT_EQ(listed["runs"][0]["dir"], second(dir));
  // It hears the head: nobody else may go on with the run.
  EXPECT_EQ(client_->error("mirror.adopt", adopt_params(dir))["code"], static_cast<int>(RpcCode::bad_state));
  EXPECT_FALSE(fs::exists(second(dir) + "/run.json"));

  end_head(dir);
  ASSERT_TRUE(eventually([&] {
    const auto record = read_join_record(RunFolder(second(dir)), "gpu2");
    return !record || record->state != "joined";
  }));
  const Json answer = client_->call("mirror.adopt", adopt_params(dir));
  EXPECT_EQ(answer, (Json{{"dir", second(dir)}, {"adopted", true}, {"shared", false}}));
  EXPECT_EQ(second_join(dir).pid, 0);
  EXPECT_EQ(text(second(dir) + "/weights.bin"), "weights");
  EXPECT_FALSE(fs::exists(second(dir) + "/mirror"));
  const Json run = client_->call("run.get", {{"dir", second(dir)}});
  EXPECT_EQ(run["interrupted"], true);
  EXPECT_EQ(run["run"]["mirror"], "gpu2");
  const auto changed = events(second(dir), "head_changed");
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0]["from"], "gpu1");
  EXPECT_EQ(changed[0]["to"], "gpu2");
  // A second client gets the same folder in its answer, and moves nothing.
  const Json late = client_->call("mirror.adopt", adopt_params(dir));
  EXPECT_EQ(late["dir"], second(dir));
  EXPECT_EQ(late["adopted"], false);
  // As on an old head that came back: the folder is a run, and goes only where that is said.
  Json forget{{"workdir", folder_.file("second")}, {"id", fs::path(dir).filename().string()}, {"host", "gpu1"}};
  EXPECT_EQ(client_->error("run.forget", forget)["code"], static_cast<int>(RpcCode::bad_state));
  forget["former"] = true;
  EXPECT_EQ(client_->call("run.forget", forget)["stays"], Json::array({"weights.bin"}));  // the program's own
  EXPECT_FALSE(fs::exists(second(dir) + "/run.json"));
}

TEST_F(MirrorTest, WhatTheNodeHadAsAnEarlierHeadIsKeptApart) {
  const RunFolder folder(folder_.path());
  const std::string mirror = mirror_folder(folder);
  fs::create_directories(folder.file("checkpoints/step-00000009"));
  fs::create_directories(mirror + "/checkpoints/step-00000005");
  write_file(folder.run(), "{\"id\":\"old\"}");
  write_file(folder.file("checkpoints/step-00000009/manifest.json"), "old");
  write_file(mirror + "/run.json", "{\"id\":\"new\"}");
  write_file(mirror + "/checkpoints/step-00000005/manifest.json", "new");
  fs::create_directories(mirror + "/checkpoints/step-00000006");
  write_file(mirror + "/checkpoints/step-00000006/model.safetensors", "a part");
  write_file(mirror + "/checkpoints/step-00000006/own.pt", "the program's own");
  EXPECT_THROW(adopt_mirror(folder, "gpu2"), Error);  // it was never whole
  write_file(mirror_note(folder), "{\"time\":1}");
  adopt_mirror(folder, "gpu2");
  EXPECT_EQ(text(folder.run()), "{\"id\":\"new\"}");
  EXPECT_TRUE(fs::exists(folder.file("checkpoints/step-00000005")));
  EXPECT_FALSE(fs::exists(folder.file("checkpoints/step-00000009")));
  EXPECT_FALSE(fs::exists(folder.file("checkpoints/step-00000006/model.safetensors")));
  EXPECT_TRUE(fs::exists(folder.file("checkpoints/step-00000006/own.pt")));
  const fs::path former = fs::directory_iterator(folder.file("former"))->path();
  EXPECT_EQ(text(former / "checkpoints/step-00000009/manifest.json"), "old");
}

TEST_F(MirrorTest, WhatCameAsASharedFolderGivesWayToTheCopyOfTheHead) {
  const RunFolder folder(folder_.path());
  for (const char* dir : {"mirror/ckpt", "ckpt"}) fs::create_directories(folder.file(dir));
  for (const char* path : {"ckpt/1.pt", "ckpt/own.pt", "mirror/ckpt/2.pt"}) write_file(folder.file(path), path);
  fs::create_symlink("1.pt", folder.file("ckpt/last"));
  fs::create_symlink("2.pt", folder.file("mirror/ckpt/last"));
  SharedRecord record(folder);
  record.add("ckpt/1.pt", 1);
  record.add_link("ckpt/last", "1.pt");
  record.write();
  write_file(mirror_folder(folder) + "/run.json", "{\"nodes\":[{\"host\":\"gpu1\"}]}");
  write_file(mirror_note(folder), "{\"time\":1}");
  adopt_mirror(folder, "gpu2");
  EXPECT_FALSE(fs::exists(folder.file("ckpt/1.pt")));
  EXPECT_TRUE(fs::exists(folder.file("ckpt/own.pt")));
  EXPECT_EQ(text(folder.file("ckpt/last")), "mirror/ckpt/2.pt");
  EXPECT_FALSE(fs::exists(folder.file("share.json")));
}

TEST_F(MirrorTest, WhatWasCutShortIsFinishedByTheNextCall) {
  const RunFolder folder(folder_.path());
  fs::create_directories(mirror_folder(folder));
  write_file(mirror_folder(folder) + "/left.bin", "left");
  write_file(mirror_note(folder), "{\"time\":1}");
  write_file(folder.run(), "{\"id\":\"moved\"}");  // moved last
  adopt_mirror(folder, "gpu2");
  EXPECT_EQ(text(folder.run()), "{\"id\":\"moved\"}");
  EXPECT_FALSE(fs::exists(mirror_folder(folder)));
  EXPECT_FALSE(fs::exists(mirror_note(folder)));
}

TEST_F(MirrorTest, AMirrorThatIsTheHeadOrNoNodeIsRefused) {
  for (const char* host : {"gpu1", "gpu3"}) {
    Json spec = spread_script("true");
    spec["mirror"] = host;
    const Json error = client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
    EXPECT_NE(error["message"].get<std::string>().find("spec.mirror"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace trainyard::test
