// file.read, file.follow and checkpoint.list.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/agent/run_fixture.h"
#include "trainer/base/sha256.h"

namespace trainyard::test {
namespace {

void append(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::app) << bytes; }

/// Takes notifications until `wanted` bytes came or `seconds` have passed; checks that offsets have no gap.
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

TEST(Checkpoints, AreListedAndVerified) {
  TemporaryFolder folder;
  Client client;
  const auto make = [&](const std::string& step, const std::string& weights, const std::string& hashed) {
    const std::string dir = folder.file("checkpoints/step-" + step);
    std::filesystem::create_directories(dir);
    write_file(dir + "/model.safetensors", weights);
    const Json file = {{"name", "model.safetensors"}, {"bytes", hashed.size()}, {"sha256", sha256_hex(hashed)}};
    write_file(dir + "/manifest.json",
               to_line({{"version", 1}, {"step", std::stoi(step)}, {"time", 5.5}, {"files", {file}}}));
  };
  make("00000020", "weights", "weights");
  make("00000100", "weighty", "weights");  // a flipped bit: right size, wrong bytes
  make("00000030", "short", "weights");
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
  EXPECT_EQ(first["bytes"], 7);
  EXPECT_EQ(first["time"], 5.5);
}

}  // namespace
}  // namespace trainyard::test
