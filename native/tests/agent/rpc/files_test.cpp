// file.read, file.follow and checkpoint.list.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/system/clock.h"
#include "common/checkpoint/checkpoint_list.h"
#include "common/hash/sha256.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

void append(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::app) << bytes; }

/// Takes notifications until `wanted` bytes came or `seconds` have passed; checks that offsets have
/// no gap.
std::string follow_bytes(Client& client, int id, size_t wanted, uint64_t offset, double seconds = 5) {
  std::string bytes;
  const double deadline = monotonic_seconds() + seconds;
  while (bytes.size() < wanted && monotonic_seconds() < deadline) {
    const auto note = client.next_notification(deadline - monotonic_seconds());
    if (!note) break;
    EXPECT_EQ((*note)["method"], "file.data") << *note;
    EXPECT_EQ((*note)["params"]["id"], id);
    EXPECT_EQ((*note)["params"]["offset"], offset + bytes.size());
    bytes += from_base64((*note)["params"]["data"]);
  }
  return bytes;
}

TEST(Files, AreReadAtOffsets) {
  TemporaryFolder folder;
  Client client;
  std::string content;
  for (int at = 0; at < 300'000; ++at) content.push_back(static_cast<char>(at * 7 + at / 256));
  write_file(folder.file("log"), content);
  const auto read = [&](int64_t offset, int64_t length) {
    return client.call("file.read", {{"path", folder.file("log")}, {"offset", offset}, {"length", length}});
  };
  EXPECT_EQ(from_base64(read(0, 5)["data"]), content.substr(0, 5));
  EXPECT_EQ(from_base64(read(123'456, 1000)["data"]), content.substr(123'456, 1000));
  EXPECT_EQ(from_base64(read(0, 1'000'000)["data"]), content.substr(0, 256 << 10));  // cut
  EXPECT_EQ(from_base64(read(299'999, 10)["data"]), content.substr(299'999));
  EXPECT_EQ(read(300'000, 10)["data"], "");
  EXPECT_EQ(read(999'999, 10)["size"], 300'000);
  struct stat info{};
  ASSERT_EQ(::stat(folder.file("log").c_str(), &info), 0);
  EXPECT_EQ(read(0, 0)["inode"], info.st_ino);

  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  EXPECT_EQ(client.error("file.read", {{"path", folder.file("fifo")}, {"offset", 0}, {"length", 1}})["code"], 4);
  EXPECT_EQ(client.error("file.read", {{"path", folder.path()}, {"offset", 0}, {"length", 1}})["code"], 4);
}

TEST(Files, AreFollowedAsTheyGrow) {
  TemporaryFolder folder;
  Client client;
  const std::string path = folder.file("log");
  write_file(path, "0123456789");
  EXPECT_EQ(client.call("file.follow", {{"path", path}, {"offset", 4}, {"id", 1}}), Json::object());
  EXPECT_EQ(follow_bytes(client, 1, 6, 4), "456789");
  sleep_ms(100);

  double slowest = 0;
  for (int round = 0; round < 5; ++round) {
    const double written = monotonic_seconds();
    append(path, "x");
    EXPECT_EQ(follow_bytes(client, 1, 1, 10 + static_cast<uint64_t>(round)), "x");
    slowest = std::max(slowest, monotonic_seconds() - written);
    sleep_ms(50);
  }
  EXPECT_LT(slowest, 0.1);

  const std::string large(1 << 20, 'L');
  append(path, large);
  EXPECT_EQ(follow_bytes(client, 1, large.size(), 15), large);

  EXPECT_EQ(client.error("file.follow", {{"path", path}, {"offset", 0}, {"id", 1}})["code"], -32602);
  client.call("file.unfollow", {{"id", 1}});
  EXPECT_EQ(client.error("file.unfollow", {{"id", 1}})["code"], 1);
  append(path, "unheard");
  EXPECT_FALSE(client.next_notification(0.3));
}

TEST(Files, ThatShrinkOrAreReplacedAreBegunAnew) {
  TemporaryFolder folder;
  Client client;
  const std::string path = folder.file("state.json");
  write_file(path, "first version");
  client.call("file.follow", {{"path", path}, {"offset", 0}, {"id", 7}});
  EXPECT_EQ(follow_bytes(client, 7, 13, 0), "first version");

  write_file(folder.file("new"), "second one, longer");
  std::filesystem::rename(folder.file("new"), path);
  auto reset = client.next_notification(5);
  ASSERT_TRUE(reset);
  EXPECT_EQ((*reset)["method"], "file.reset");
  EXPECT_EQ((*reset)["params"], Json({{"id", 7}, {"size", 18}}));
  EXPECT_EQ(follow_bytes(client, 7, 18, 0), "second one, longer");

  ASSERT_EQ(::truncate(path.c_str(), 3), 0);
  reset = client.next_notification(5);
  ASSERT_TRUE(reset);
  EXPECT_EQ((*reset)["params"], Json({{"id", 7}, {"size", 3}}));
  EXPECT_EQ(follow_bytes(client, 7, 3, 0), "sec");
}

TEST(Files, ThatAreNotThereYetAreFollowedOnceTheyAre) {
  TemporaryFolder folder;
  Client client;
  const std::string path = folder.file("later/metrics.jsonl");
  client.call("file.follow", {{"path", path}, {"offset", 0}, {"id", 2}});
  EXPECT_FALSE(client.next_notification(0.2));
  std::filesystem::create_directory(folder.file("later"));
  append(path, "one\n");
  EXPECT_EQ(follow_bytes(client, 2, 4, 0), "one\n");
  append(path, "two\n");
  EXPECT_EQ(follow_bytes(client, 2, 4, 4), "two\n");
}

TEST(Files, ManyLinesArriveOnceEach) {
  TemporaryFolder folder;
  Client client;
  const std::string path = folder.file("log");
  client.call("file.follow", {{"path", path}, {"offset", 0}, {"id", 3}});
  std::string all;
  for (int line = 0; line < 20'000; ++line) {
    const std::string text = "line " + std::to_string(line) + "\n";
    if (line % 100 == 0) append(path, "");
    append(path, text);
    all += text;
  }
  EXPECT_EQ(follow_bytes(client, 3, all.size(), 0, 15), all);
}

/// A whole checkpoint as the trainer writes one, of small files.
void make_checkpoint(const TemporaryFolder& folder, const std::string& name, int64_t step, const std::string& weights) {
  const std::string dir = folder.file("checkpoints/" + name);
  std::filesystem::create_directories(dir);
  Manifest manifest{step, 5.5, "mlp", 2, {}};
  for (const char* file : {model_file_name, optimizer_file_name, state_file_name}) {
    const std::string text = file == std::string(model_file_name) ? weights : "{}";
    write_file(dir + "/" + file, text);
    manifest.files.push_back({file, text.size(), sha256_hex(text)});
  }
  write_file(dir + "/" + manifest_name, manifest_text(manifest));
}

TEST(Checkpoints, AreListedAndVerified) {
  TemporaryFolder folder;
  Client client;
  make_checkpoint(folder, "step-00000020", 20, "weights");
  make_checkpoint(folder, "step-00000030", 30, "weights");
  make_checkpoint(folder, "step-00000100", 100, "weights");
  write_file(folder.file("checkpoints/step-00000030/model.safetensors"), "short");
  write_file(folder.file("checkpoints/step-00000100/model.safetensors"), "weighty");  // the right size, a flipped bit
  std::filesystem::create_directories(folder.file("checkpoints/step-00000040"));
  std::filesystem::create_directories(folder.file("checkpoints/.tmp-step-00000050"));

  const auto valid = [&](bool verify) {
    std::string text;
    const Json answer = client.call("checkpoint.list", {{"dir", folder.path()}, {"verify", verify}});
    for (const Json& one : answer["checkpoints"]) {
      text += std::to_string(one["step"].get<int>()) + (one["valid"].get<bool>() ? "+" : "-");
      EXPECT_EQ(one["reason"].is_null(), one["valid"].get<bool>());
    }
    return text;
  };
  EXPECT_EQ(valid(false), "20+30-40-100+");
  EXPECT_EQ(valid(true), "20+30-40-100-");
  const Json first = client.call("checkpoint.list", {{"dir", folder.path()}})["checkpoints"][0];
  EXPECT_EQ(first["path"], "checkpoints/step-00000020");
  EXPECT_GT(first["bytes"], 7);
  EXPECT_EQ(first["time"], 5.5);
}

/// What the trainer would not go on from is not called valid by the agent either.
TEST(Checkpoints, AreJudgedAsTheTrainerJudgesThem) {
  TemporaryFolder folder;
  Client client;
  const auto change = [&](const std::string& name, const std::function<void(Json&)>& edit) {
    const std::string path = folder.file("checkpoints/" + name + "/manifest.json");
    Json manifest = Json::parse(read_file(path));
    manifest.erase("checksum");
    edit(manifest);
    write_file(path, manifest.dump());
  };
  for (int step = 10; step <= 60; step += 10) {
    make_checkpoint(folder, "step-000000" + std::to_string(step), step, "weights");
  }
  change("step-00000010", [](Json& manifest) { manifest["step"] = 11; });
  change("step-00000020", [](Json& manifest) { manifest["files"].erase(1); });
  change("step-00000030", [](Json& manifest) { manifest["files"][0]["sha256"] = "none"; });
  change("step-00000040", [](Json& manifest) { manifest["checksum"] = "another"; });
  change("step-00000050", [](Json& manifest) { manifest["version"] = 2; });
  std::filesystem::rename(folder.file("checkpoints/step-00000060"), folder.file("checkpoints/.old-step-00000060"));

  for (const bool verify : {false, true}) {
    const Json listed = client.call("checkpoint.list", {{"dir", folder.path()}, {"verify", verify}})["checkpoints"];
    const std::vector<CheckpointInfo> expected = list_checkpoints(folder.path(), verify);
    ASSERT_EQ(listed.size(), 6U);
    ASSERT_EQ(expected.size(), 6U);
    for (size_t at = 0; at < 6; ++at) {
      EXPECT_EQ(listed[at]["valid"], at == 5) << listed[at];
      EXPECT_EQ(listed[at]["valid"], expected[at].valid);
      EXPECT_EQ(listed[at]["bytes"], expected[at].bytes);
      EXPECT_EQ(listed[at]["reason"], expected[at].valid ? Json(nullptr) : Json(expected[at].reason));
    }
    EXPECT_EQ(listed[5]["path"], "checkpoints/.old-step-00000060");
  }
}

}  // namespace
}  // namespace trainyard::test
