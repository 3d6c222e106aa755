// The queue for GPUs, in a folder of the test's own: tickets of several agents, their order, and
// that nothing is left of one whose agent has ended.
#include "agent/gpus/gpu_queue.h"

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

constexpr int kInvalid = -32602;

std::string id_of(char letter) { return std::string(32, letter); }

Json ticket(char letter, const std::vector<int>& gpus, int count) {
  return {{"ticket", id_of(letter)}, {"gpus", gpus}, {"count", count}, {"by", "ada@laptop"}};
}

class GpuQueueing : public ::testing::Test {
 protected:
  GpuQueueing() : prefix_("export TRAINYARD_GPU_LOCKS='" + folder_.file("locks") + "'; ") {}

  std::unique_ptr<Client> client() const { return std::make_unique<Client>(prefix_); }
  static int64_t queue(Client& client, Json params, std::optional<int64_t> number = std::nullopt) {
    if (number) params["number"] = *number;
    return client.call("gpus.queue", params)["number"];
  }
  /// The letters of those that wait, in their order.
  static std::string waiting(Client& client) {
    std::string letters;
    const Json sample = client.call("host.sample");
    for (const Json& one : sample["waiting"]) {
      letters += one["ticket"].get<std::string>().substr(0, 1);
    }
    return letters;
  }
  size_t files() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("locks/queue"))) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  TemporaryFolder folder_;
  std::string prefix_;
};

TEST_F(GpuQueueing, HasOneOrderForEverybody) {
  const auto one = client(), two = client();
  EXPECT_EQ(waiting(*one), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("locks")));
  EXPECT_EQ(queue(*one, ticket('c', {0, 1}, 2)), 1);
  EXPECT_EQ(queue(*two, ticket('b', {1}, 1)), 2);
  EXPECT_EQ(queue(*two, ticket('a', {0, 1}, 1)), 3);
  EXPECT_EQ(waiting(*one), "cba");
  EXPECT_EQ(waiting(*two), "cba");

  EXPECT_EQ(queue(*one, ticket('c', {0, 1}, 1)), 1);     // says anew what it waits for, and keeps its place
  EXPECT_EQ(queue(*one, ticket('c', {0, 1}, 1), 7), 7);  // another node's number was higher
  EXPECT_EQ(waiting(*two), "bac");
  EXPECT_EQ(queue(*two, ticket('d', {0}, 1)), 8);
  EXPECT_EQ(queue(*two, ticket('e', {0}, 1), 7), 7);  // of equal numbers the ticket decides
  EXPECT_EQ(waiting(*one), "baced");
  EXPECT_EQ(files(), 5U);

  const Json first = one->call("host.sample")["waiting"][0];
  EXPECT_EQ(first["gpus"], Json({1}));
  EXPECT_EQ(first["count"], 1);
  EXPECT_EQ(first["by"], "ada@laptop");
  EXPECT_EQ(first["pid"], two->pid());
  EXPECT_GT(first["since"].get<double>(), 0);
}

TEST_F(GpuQueueing, IsLeftByTheConnectionAlone) {
  const auto one = client(), two = client();
  queue(*one, ticket('a', {0}, 1));
  queue(*one, ticket('b', {0}, 1));
  two->call("gpus.leave", {{"ticket", id_of('a')}});  // not its own
  EXPECT_EQ(waiting(*two), "ab");
  one->call("gpus.leave", {{"ticket", id_of('a')}});
  one->call("gpus.leave", {{"ticket", id_of('a')}});
  EXPECT_EQ(waiting(*two), "b");
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(queue(*two, ticket('c', {0}, 1)), 3);
  EXPECT_EQ(one->close(), 0);
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(waiting(*two), "c");
}

TEST_F(GpuQueueing, KeepsNothingOfAnAgentThatWasKilled) {
  const auto one = client(), two = client();
  queue(*one, ticket('a', {0}, 1));
  queue(*two, ticket('b', {0}, 1));
  ::kill(one->pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return waiting(*two) == "b"; }));
  EXPECT_EQ(files(), 1U);
  const auto again = client();
  EXPECT_EQ(queue(*again, ticket('a', {0}, 1), 1), 1);  // as a client does whose connection was lost
  EXPECT_EQ(waiting(*two), "ab");
}

TEST_F(GpuQueueing, CountsNoFileThatNobodyHolds) {
  const auto one = client();
  queue(*one, ticket('a', {0}, 1));
  write_file(folder_.file("locks/queue/" + id_of('f')), R"({"ticket":"f","number":0})");
  write_file(folder_.file("locks/queue/notes"), "somebody's");
  const std::string half = folder_.file("locks/queue/" + id_of('e') + ".new"), young = half + ".new";
  for (const std::string& path : {half, young}) write_file(path, "{");
  std::filesystem::last_write_time(half, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  EXPECT_EQ(waiting(*one), "a");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("locks/queue/" + id_of('f'))));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("locks/queue/notes")));
  EXPECT_FALSE(std::filesystem::exists(half)) << "of a process that was killed while it wrote";
  EXPECT_TRUE(std::filesystem::exists(young)) << "its writer may live";
}

TEST_F(GpuQueueing, RefusesWhatIsNoTicket) {
  const auto one = client();
  for (const auto& [field, value] : std::vector<std::pair<std::string, Json>>{{"ticket", "x"},
                                                                              {"gpus", Json::array()},
                                                                              {"gpus", "0"},
                                                                              {"gpus", {0, 0}},
                                                                              {"gpus", {-1}},
                                                                              {"gpus", {0.5}},
                                                                              {"count", 0},
                                                                              {"count", 3},
                                                                              {"number", 0},
                                                                              {"by", std::string(201, 'x')}}) {
    Json params = ticket('a', {0, 1}, 1);
    params[field] = value;
    EXPECT_EQ(one->error("gpus.queue", params)["code"], kInvalid) << params;
  }
  EXPECT_EQ(waiting(*one), "");
}

TEST_F(GpuQueueing, ReadsAndRemovesNothingWhereOthersMayWrite) {
  const auto one = client();
  std::filesystem::create_directories(folder_.file("locks/queue"));
  write_file(folder_.file("locks/queue/" + id_of('f')), "{}");
  ::chmod(folder_.file("locks/queue").c_str(), 0777);
  EXPECT_EQ(waiting(*one), "");
  EXPECT_TRUE(std::filesystem::exists(folder_.file("locks/queue/" + id_of('f'))));
  const std::string message = one->error("gpus.queue", ticket('a', {0}, 1))["message"];
  EXPECT_NE(message.find("may be written by everybody"), std::string::npos) << message;
}

}  // namespace
}  // namespace trainyard::test
