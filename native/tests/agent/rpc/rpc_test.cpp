// The channel itself: greeting, framing, and what a caller hears for nonsense.
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "agent/figures/host_sample.h"
#include "agent/system/clock.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

int code_of(Client& client, const std::string& line) {
  client.send_raw(line + "\n");
  const Json answer = client.next_answer();
  EXPECT_EQ(answer["jsonrpc"], "2.0");
  EXPECT_TRUE(answer["error"]["message"].is_string());
  return answer["error"]["code"].get<int>();
}

TEST(Rpc, NoiseBeforeTheGreetingIsNoProblem) {
  Client client("echo 'Welcome! trainyard-agent'; printf 'no newline'; ");
  EXPECT_EQ(client.call("hello")["pid"], client.pid());
}

TEST(Rpc, AClientThatIsSilentForItsKeepAliveIsGone) {
  const Client silent("", 1);
  Client alive("", 4);
  for (int tries = 0; tries < 24; ++tries) {
    alive.send_raw("\n");  // an empty line is enough
    sleep_ms(250);
  }
  EXPECT_TRUE(eventually([&] { return !process_start_time(silent.pid()); })) << "agent serve waits for ever";
  EXPECT_EQ(alive.call("hello")["pid"], alive.pid());
}

TEST(Rpc, HelloTellsTheNode) {
  Client client;
  const Json hello = client.call("hello");
  EXPECT_EQ(hello["host"], host_name());
  EXPECT_EQ(hello["bootId"], boot_id());
  EXPECT_EQ(hello["cores"], ::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(hello["memoryTotal"].get<uint64_t>(), 100U << 20);
  EXPECT_EQ(client.close(), 0);
}

TEST(Rpc, NonsenseIsAnsweredAndSurvived) {
  Client client;
  EXPECT_EQ(code_of(client, "garbage"), -32700);
  EXPECT_EQ(code_of(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}"), -32700);
  EXPECT_EQ(code_of(client, std::string("{\"id\0\":1}", 9)), -32700);
  EXPECT_EQ(code_of(client, std::string(100'000, '[')), -32700);
  EXPECT_EQ(code_of(client, "{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}"), -32700);
  EXPECT_EQ(code_of(client, "[1,2]"), -32600);
  EXPECT_EQ(code_of(client, "3"), -32600);
  EXPECT_EQ(code_of(client, "{\"id\":1,\"method\":\"hello\"}"), -32600);
  EXPECT_EQ(code_of(client, "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"hello\"}"), -32600);
  EXPECT_EQ(code_of(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}"), -32600);
  EXPECT_EQ(code_of(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no.such\"}"), -32601);
  EXPECT_EQ(client.error("hello", Json::array({1}))["code"], -32602);
  for (const char* method : {"run.start", "run.list", "run.get", "run.describe", "run.stop", "run.kill", "run.delete",
                             "checkpoint.list", "file.read", "file.follow", "file.unfollow", "disk.free",
                             "tensorboard.start", "tensorboard.status", "tensorboard.stop"}) {
    EXPECT_EQ(client.error(method)["code"], -32602) << method;
    EXPECT_EQ(client.error(method, {{"dir", 3}, {"path", Json::array()}, {"workdir", true}})["code"], -32602) << method;
  }
  EXPECT_EQ(client.error("file.read", {{"path", "/etc/passwd"}, {"offset", -1}})["code"], -32602);
  EXPECT_EQ(client.error("file.read", {{"path", "/etc/passwd"}, {"offset", 1e300}})["code"], -32602);
  EXPECT_EQ(client.error("file.read", {{"path", "relative"}})["code"], -32602);
  EXPECT_EQ(client.error("file.read", {{"path", "/nowhere"}})["code"], 1);
  EXPECT_EQ(client.error("run.get", {{"dir", "/nowhere"}})["code"], 1);
  client.send_raw("\n  \n{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}\n");  // nothing, and a notification: no answers
  EXPECT_EQ(client.call("hello")["pid"], client.pid());
}

TEST(Rpc, ALineOverTheLimitIsThrownAwayAndSaid) {
  Client client;
  client.send_raw("\"" + std::string(9 << 20, 'x'));
  client.send_raw(std::string(9 << 20, 'x') + "\"\n");
  EXPECT_EQ(client.next_answer()["error"]["code"], -32600);
  const std::string filler((8 << 20) - 200, 'x');  // just under it: understood
  client.send_raw("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"hello\",\"params\":{\"x\":\"" + filler + "\"}}\n");
  EXPECT_EQ(client.next_answer()["result"]["pid"], client.pid());
}

TEST(Rpc, WrongSpecsAreRefusedByTheNameOfTheField) {
  Client client;
  TemporaryFolder folder;
  const Json good = {{"program", "command"},
                     {"argv", {"true"}},
                     {"paths", {{"mpiexec", TRAINYARD_MPIEXEC}, {"agent", TRAINYARD_AGENT}}}};
  const auto refused = [&](const Json& change) {
    Json spec = good;
    spec.merge_patch(change);
    const Json error = client.error("run.start", {{"workdir", folder.path()}, {"spec", spec}});
    EXPECT_EQ(error["code"], -32602) << change;
    return error["message"].get<std::string>();
  };
  EXPECT_NE(refused({{"ranks", 0}}).find("spec.ranks"), std::string::npos);
  EXPECT_NE(refused({{"ranks", "2"}}).find("spec.ranks"), std::string::npos);
  EXPECT_NE(refused({{"argv", Json::array()}}).find("spec.argv"), std::string::npos);
  EXPECT_NE(refused({{"argv", {"a", 1}}}).find("spec.argv[1]"), std::string::npos);
  EXPECT_NE(refused({{"argv", {std::string("a\0b", 3)}}}).find("NUL"), std::string::npos);
  EXPECT_NE(refused({{"env", {{"A=B", "c"}}}}).find("A=B"), std::string::npos);
  EXPECT_NE(refused({{"id", "../../x"}}).find("spec.id"), std::string::npos);
  EXPECT_NE(refused({{"launcher", "ssh"}}).find("spec.launcher"), std::string::npos);
  EXPECT_NE(refused({{"paths", {{"mpiexec", "relative"}}}}).find("relative"), std::string::npos);
  Json missing = good;
  missing["paths"]["mpiexec"] = "/nowhere/mpiexec";
  EXPECT_EQ(client.error("run.start", {{"workdir", folder.path()}, {"spec", missing}})["code"], 1);
  EXPECT_TRUE(client.call("run.list", {{"workdir", folder.path()}})["runs"].empty());  // nothing was left behind
}

TEST(Rpc, TheSampleAgreesWithProc) {
  Client client;
  const Json sample = client.call("host.sample");
  const HostMemory memory = host_memory();
  EXPECT_EQ(sample["memory_total"], memory.total);
  const double used = static_cast<double>(memory.total - memory.available);
  EXPECT_NEAR(sample["memory_used"].get<double>(), used, 0.25 * static_cast<double>(memory.total));
  EXPECT_GE(sample["cpu_percent"].get<double>(), 0);
  EXPECT_LE(sample["cpu_percent"].get<double>(), 100);
  EXPECT_NEAR(sample["time"].get<double>(), now_seconds(), 5);

  struct statvfs info{};
  ASSERT_EQ(::statvfs("/tmp", &info), 0);
  const Json disk = client.call("disk.free", {{"path", "/tmp/not/there/yet"}});
  EXPECT_EQ(disk["total"].get<uint64_t>(), static_cast<uint64_t>(info.f_blocks) * info.f_frsize);
  EXPECT_NEAR(disk["free"].get<double>(), static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize), 2e9);
}

TEST(Rpc, CpuPercentFollowsTheLoad) {
  Client client;
  client.call("host.sample");
  const int busy = ::fork();
  if (busy == 0) {
    for (volatile unsigned spin = 0;; spin = spin + 1) {
    }
  }
  sleep_ms(700);
  const double loaded = client.call("host.sample")["cpu_percent"];
  ::kill(busy, SIGKILL);
  const double one_core = 100.0 / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GE(loaded, 0.6 * one_core);
}

TEST(Rpc, TheAgentStaysSmall) {
  if (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) {
    GTEST_SKIP() << "a sanitizer's own memory counts";
  }
  Client client;
  client.call("host.sample");
  std::ifstream status("/proc/" + std::to_string(client.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) {
      EXPECT_LT(std::stol(line.substr(6)), 15 << 10) << line;
    }
  }
}

}  // namespace
}  // namespace trainyard::test
