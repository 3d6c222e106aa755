// An own program's folder of checkpoints: every node gets what the head has of it before each
// start.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/run/folder/shared_files.h"
#include "common/error.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

TEST(SharedFiles, AreThoseBelowTheFolderAndBelowTheOneOfThatNameInTheCode) {
  const TemporaryFolder made;
  const RunFolder folder(made.path());
  for (const char* path : {"out/a.pt", "out/sub/b.pt", "out/.trainyard.part-gpu2-12", "out/c.pt.tmp-12",
                           "code/out/d.pt", "code/train.py", "outside.pt", "output/e.pt", "run.json"}) {
    fs::create_directories(fs::path(folder.file(path)).parent_path());
    write_file(folder.file(path), path);
  }
  fs::create_symlink("a.pt", folder.file("out/last"));
  fs::create_symlink("../a.pt", folder.file("out/sub/last"));
  fs::create_symlink("../outside.pt", folder.file("out/away"));
  fs::create_symlink("/etc/passwd", folder.file("out/far"));
  std::vector<std::string> paths;
  for (const MirroredFile& file : list_shared(folder, "out")) paths.push_back(file.path);
  std::ranges::sort(paths);
  EXPECT_EQ(paths, (std::vector<std::string>{"code/out/d.pt", "out/a.pt", "out/last", "out/sub/b.pt", "out/sub/last"}));
  EXPECT_TRUE(list_shared(folder, "none").empty());
  for (const char* path : {"out", "out/", "out/../run.json", "output/a", "code/a", "metrics.jsonl"}) {
    EXPECT_FALSE(is_shared("out", path)) << path;
  }
  // A run of an own program has no checkpoints of our trainer.
  EXPECT_TRUE(is_shared("checkpoints", "checkpoints/step-00000001/model.safetensors"));
  EXPECT_FALSE(is_shared("train", "train/events.out.tfevents.1"));
  EXPECT_TRUE(is_shared("checkpoints", "checkpoints/best.pt"));
}

TEST(SharedFiles, AFolderIsOneOfTheProgramsOwn) {
  for (const char* name : {"", "/scratch/out", "..", "out/../..", "./out", "out/", "code", "code/out", "nodes/gpu2"}) {
    EXPECT_FALSE(why_not_shared(name).empty()) << name;
  }
  for (const char* name : {"out", "checkpoints", "a/b"}) EXPECT_EQ(why_not_shared(name), "") << name;
}

TEST(SharedRecord, KnowsWhatIsStillAsItCame) {
  const TemporaryFolder made;
  const RunFolder folder(made.path());
  for (const char* path : {"same", "changed", "gone"}) write_file(folder.file(path), "text");
  for (const char* path : {"link", "turned"}) fs::create_symlink("same", folder.file(path));
  SharedRecord record(folder);
  for (const char* path : {"same", "changed", "gone"}) record.add(path, 42);  // the head's time
  for (const char* path : {"link", "turned"}) record.add_link(path, "same");
  record.write();
  write_file(folder.file("changed"), "other");
  fs::remove(folder.file("gone"));
  fs::remove(folder.file("turned"));
  fs::create_symlink("changed", folder.file("turned"));
  const SharedRecord again(folder);
  const std::vector<MirroredFile> unchanged = again.unchanged();
  ASSERT_EQ(unchanged.size(), 2U);
  EXPECT_EQ(unchanged[0].path, "link");
  EXPECT_EQ(unchanged[1].path, "same");
  EXPECT_EQ(unchanged[1].time, 42);
  EXPECT_FALSE(again.is_unchanged("changed"));
  write_file(folder.file("share.json"), "{\"files\":[1,[\"a\"],[\"b\",-1,0]]}");
  EXPECT_TRUE(SharedRecord(folder).unchanged().empty());
}

TEST(SharedFiles, WhatAFormerHeadHadIsKeptApartOnce) {
  const TemporaryFolder made;
  const RunFolder folder(made.path());
  fs::create_directories(folder.file("ckpt"));
  fs::create_directories(folder.file("code/ckpt"));
  write_file(folder.file("ckpt/9.pt"), "nine");
  write_file(folder.file("code/ckpt/9.pt"), "nine");
  keep_former_share(folder, "ckpt");
  EXPECT_TRUE(fs::exists(folder.file("ckpt/9.pt")));  // it was never a head
  write_file(folder.run(), "{}");
  keep_former_share(folder, "ckpt");
  EXPECT_FALSE(fs::exists(folder.file("ckpt")));
  EXPECT_FALSE(fs::exists(folder.file("code/ckpt")));
  ASSERT_FALSE(fs::is_empty(folder.file("former")));
  const std::string former = fs::directory_iterator(folder.file("former"))->path().string();
  EXPECT_TRUE(fs::exists(former + "/ckpt/9.pt"));
  EXPECT_TRUE(fs::exists(former + "/code/ckpt/9.pt"));
  fs::create_directories(folder.file("ckpt"));
  SharedRecord(folder).write();
  keep_former_share(folder, "ckpt");
  EXPECT_TRUE(fs::exists(folder.file("ckpt")));
}

TEST(SharedFiles, NoFileComesThroughALinkBelowTheFolder) {
  const TemporaryFolder made;
  const RunFolder folder(made.path());
  fs::create_directories(folder.file("ckpt/real"));
  fs::create_directories(folder.file("else"));
  fs::create_directory_symlink("../else", folder.file("ckpt/best"));
  EXPECT_NO_THROW(refuse_linked_folders(folder, "ckpt", "ckpt/real/a"));
  EXPECT_NO_THROW(refuse_linked_folders(folder, "ckpt", "ckpt/none/a"));
  EXPECT_THROW(refuse_linked_folders(folder, "ckpt", "ckpt/best/a"), Error);
  EXPECT_THROW(refuse_linked_folders(folder, "ckpt", "ckpt/best/sub/a"), Error);
  fs::create_directory_symlink("ckpt", folder.file("linked"));  // the folder itself may be one
  EXPECT_NO_THROW(refuse_linked_folders(folder, "linked", "linked/a"));
}

TEST(SharedFiles, ALinkLeadsToAnotherFileOfThem) {
  const auto leads = [](const char* path, const char* target) {
    MirroredFile link{path};
    link.link = target;
    return leads_to(link, [](const std::string& one) { return is_shared("ckpt", one); });
  };
  EXPECT_TRUE(leads("ckpt/last", "step-100"));
  EXPECT_TRUE(leads("ckpt/last", "step-100/"));
  EXPECT_TRUE(leads("ckpt/sub/last", "../a.pt"));
  for (const char* target : {"/ckpt/a", "..", "../a", "a/../../b", "l/../x", "", "."}) {
    EXPECT_FALSE(leads("ckpt/last", target)) << target;
  }
}

class ShareTest : public ClusterTest {
 protected:
  /// Each rank runs in its node's run folder. Ranks 0 and 1 are the head's, 2 and 3 the second
  /// node's.
  Json shared_spec(const std::string& script) const {
    Json spec = spread_script("cd \"$TRAINYARD_RUN_DIR\"; g=$TRAINYARD_GENERATION; B='" + folder_.path() +
                              "'\nwait_for() { until [ -e \"$B/$1\" ]; do sleep 0.02; done; }\n" + script);
    spec["share"] = "ckpt";
    spec["limits"]["maxRestarts"] = 2;
    return spec;
  }

  /// Whether the second node has a file that has not come whole.
  bool has_part(const std::string& dir) const {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(second(dir) + "/ckpt", none)) {
      if (entry.path().filename().string().starts_with(".trainyard.part-gpu2-")) return true;
    }
    return false;
  }

  Json forget(const std::string& dir) const {
    const Json node{{"workdir", folder_.file("second")}, {"id", fs::path(dir).filename().string()}, {"host", "gpu2"}};
    return client_->call("run.forget", node);
  }

  std::string refusal(const std::string& share, const std::string& program = "command") const {
    Json spec = command_spec("true");
    spec["program"] = program;
    spec["share"] = share;
    return client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}})["message"];
  }
};

TEST_F(ShareTest, EachRestartBeginsWithWhatTheHeadHasAndNodesKeepWhatIsTheirs) {
  const std::string dir = start_spread(shared_spec(R"sh(
    if [ $PMI_RANK = 2 ]; then
      (ls ckpt; cat ckpt/last) > seen-$g 2>/dev/null
      mkdir -p ckpt; echo mine > ckpt/own.pt
      touch "$B/seen-$g"
    fi
    if [ $PMI_RANK = 0 ]; then
      wait_for seen-$g
      mkdir -p ckpt/sub
      [ $g = 1 ] && echo one > ckpt/1.pt && echo deep > ckpt/sub/a && ln -s 1.pt ckpt/last && exit 1
      [ $g = 2 ] && rm ckpt/1.pt && echo two > ckpt/2.pt && ln -sf 2.pt ckpt/last && exit 1
    fi
    if [ $g -lt 3 ]; then sleep 60; fi)sh"));
  const Json last = ended(dir, 40);
  ASSERT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 3);
  const std::string node = second(dir);
  EXPECT_EQ(text(node + "/seen-1"), "");
  EXPECT_EQ(text(node + "/seen-2"), "1.pt\nlast\nown.pt\nsub\none\n");
  EXPECT_EQ(text(node + "/seen-3"), "2.pt\nlast\nown.pt\nsub\ntwo\n");
  EXPECT_EQ(text(node + "/ckpt/own.pt"), "mine\n");
  EXPECT_FALSE(fs::exists(dir + "/ckpt/own.pt"));
  EXPECT_FALSE(has_part(dir));
  const std::vector<Json> copies = events(dir, "shared");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0]["folder"], "ckpt");
  EXPECT_EQ(copies[0]["hosts"], Json({"gpu2"}));
  EXPECT_EQ(copies[0]["files"], 2);  // and a link
  EXPECT_EQ(copies[0]["bytes"], 9);
  EXPECT_EQ(copies[1]["files"], 1);

  // What was brought goes with the run, and what the program wrote stays, as on the head.
  client_->call("run.delete", {{"dir", dir}});
  EXPECT_TRUE(fs::exists(dir + "/ckpt/2.pt"));
  const Json gone = forget(dir);
  EXPECT_FALSE(fs::exists(node + "/ckpt/2.pt"));
  EXPECT_FALSE(fs::exists(node + "/ckpt/sub"));
  EXPECT_TRUE(fs::exists(node + "/ckpt/own.pt")) << gone;
}

TEST_F(ShareTest, ANodeThatCannotTakeItEndsTheRunWithItsReason) {
  const std::string dir = start_spread(shared_spec(R"sh(
    if [ $PMI_RANK = 2 ]; then echo no folder > ckpt; touch "$B/ready"; fi
    if [ $PMI_RANK = 0 ]; then wait_for ready; mkdir ckpt; echo one > ckpt/1.pt; exit 1; fi
    sleep 60)sh"));
  const Json last = ended(dir, 40);
  EXPECT_EQ(last["phase"], "failed");
  const std::string reason = last["reason"];
  EXPECT_TRUE(reason.starts_with("the shared folder 'ckpt' could not be copied to gpu2: ")) << reason;
  EXPECT_EQ(last["generation"], 1);
  EXPECT_EQ(text(second(dir) + "/ckpt"), "no folder\n");
}

TEST_F(ShareTest, ANodeThatJoinsAnewInTheMidstGetsItAllTheSame) {
  const std::string dir = start_spread(shared_spec(R"sh(
    if [ $PMI_RANK = 0 ] && [ $g = 1 ]; then
      mkdir ckpt; head -c 300000000 /dev/zero > ckpt/big.pt; echo one > ckpt/z.pt; exit 1
    fi
    if [ $g = 2 ]; then [ "$(stat -c %s ckpt/big.pt)" = 300000000 ] && [ "$(cat ckpt/z.pt)" = one ]; exit; fi
    sleep 60)sh"));
  ASSERT_TRUE(eventually([&] { return has_part(dir); }));
  ASSERT_TRUE(signal_process(second_join(dir), SIGKILL));
  ASSERT_TRUE(eventually([&] { return second_join(dir).pid == 0; }));
  EXPECT_FALSE(fs::exists(second(dir) + "/ckpt/big.pt"));
  join_second(dir);
  const Json last = ended(dir, 60);
  EXPECT_EQ(last["phase"], "finished") << last["reason"];
  EXPECT_EQ(last["generation"], 2);
  EXPECT_FALSE(has_part(dir));
}

TEST_F(ShareTest, AStopEndsTheCopyAndNothingOfItIsLeftOnceTheRunIsDeleted) {
  const std::string dir = start_spread(shared_spec(R"sh(
    if [ $PMI_RANK = 0 ]; then
      mkdir ckpt; echo one > ckpt/a.pt; head -c 1000000000 /dev/zero > ckpt/big.pt; exit 1
    fi
    sleep 60)sh"));
  ASSERT_TRUE(eventually([&] { return has_part(dir); }));
  client_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "test"}});
  const Json last = ended(dir, 40);
  EXPECT_EQ(last["phase"], "stopped");
  EXPECT_EQ(last["reason"], "stopped while it copied the shared folder to its nodes");
  EXPECT_EQ(last["generation"], 1);
  EXPECT_FALSE(has_part(dir));
  EXPECT_TRUE(fs::exists(second(dir) + "/ckpt/a.pt"));
  EXPECT_FALSE(fs::exists(second(dir) + "/ckpt/big.pt"));
  EXPECT_EQ(forget(dir)["stayCount"], 0);
  EXPECT_FALSE(fs::exists(second(dir)));
}

TEST_F(ShareTest, OnlyAFolderOfAnOwnProgramIsShared) {
  EXPECT_NE(refusal("../else").find("spec.share must be a folder relative to the run's folder"), std::string::npos);
  EXPECT_NE(refusal("mirror").find("spec.share must not begin with 'mirror'"), std::string::npos);
  EXPECT_NE(refusal("ckpt", "trainer").find("spec.share must be absent"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::test
