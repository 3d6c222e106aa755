// mpiexec's control connections: whole over lost wires, and no port of them on any node.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "agent/connection/control_channel.h"
#include "agent/connection/relayed_stream.h"
#include "agent/connection/wire.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

/// A head and a node, each with the end of a stream whose program is the test.
struct Relayed {
  Relayed() {
    reconnect();
    here.attach(std::move(local_here.ours));
    there.attach(std::move(local_there.ours));
    for (const SocketPair* pair : {&local_here, &local_there}) ::fcntl(pair->theirs.get(), F_SETFL, O_NONBLOCK);
  }

  void reconnect() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    head = std::make_unique<Wire>(Descriptor(ends[0]), Wire::Side::head, std::string(64, 'a'));
    node = std::make_unique<Wire>(Descriptor(ends[1]), Wire::Side::node, std::string(64, 'a'), "gpu2");
    for (int round = 0; round < 6; ++round) {
      head->pump();
      node->pump();
    }
    ASSERT_TRUE(head->authenticated() && node->authenticated());
    here.rewind();
    there.rewind();
  }

  void step() {
    here.pump_local();
    there.pump_local();
    here.pump_wire(*head);
    there.pump_wire(*node);
    head->pump();
    node->pump();
    while (const auto message = head->next()) here.take(Fields(*message, "message"));
    while (const auto message = node->next()) there.take(Fields(*message, "message"));
  }

  RelayedStream here{1}, there{1};
  SocketPair local_here = make_stream_pair(), local_there = make_stream_pair();
  std::unique_ptr<Wire> head, node;
};

/// What the program at this end is given now.
std::string read_all(const Descriptor& end) {
  std::string all, part(65536, '\0');
  for (ssize_t got; (got = ::read(end.get(), part.data(), part.size())) > 0;) {
    all.append(part, 0, static_cast<size_t>(got));
  }
  return all;
}

TEST(RelayedStream, LosesAndRepeatsNothingOverLostConnections) {
  Relayed both;
  std::string sent;
  for (int number = 0; sent.size() < (3U << 20); ++number) sent += std::to_string(number) + "\n";
  size_t written = 0, answered = 0;
  std::string got, answers;
  for (int round = 0; round < 4000 && (got.size() < sent.size() || answers.size() < 4000); ++round) {
    if (written < sent.size()) {
      const size_t part = std::min<size_t>(50000, sent.size() - written);
      const ssize_t done = ::write(both.local_here.theirs.get(), sent.data() + written, part);
      if (done > 0) written += static_cast<size_t>(done);
    }
    if (answered < 4000 && ::write(both.local_there.theirs.get(), "answer__", 8) == 8) answered += 8;
    // Every seventh time what is under way is lost with its connection.
    round % 7 == 6 ? both.reconnect() : both.step();
    got += read_all(both.local_there.theirs);
    answers += read_all(both.local_here.theirs);
  }
  EXPECT_TRUE(got == sent) << got.size() << " of " << sent.size() << " bytes";
  EXPECT_EQ(answers.size(), 4000U);
}

TEST(RelayedStream, AnEndComesAfterTheLastByteAndOverALostConnection) {
  Relayed both;
  ASSERT_EQ(::write(both.local_here.theirs.get(), "last", 4), 4);
  both.local_here.theirs = Descriptor();
  both.here.pump_local();
  both.here.pump_wire(*both.head);
  both.reconnect();
  std::string got;
  for (int round = 0; round < 6; ++round) {
    both.step();
    got += read_all(both.local_there.theirs);
  }
  char none = 0;
  EXPECT_EQ(got, "last");
  EXPECT_EQ(::read(both.local_there.theirs.get(), &none, 1), 0);
  EXPECT_EQ(both.here.events(), 0);
  EXPECT_EQ(both.there.events(), 0);
}

TEST(RelayedStream, AProgramIsToldWhenTheOtherIsGone) {
  Relayed both;
  both.here = RelayedStream(1);
  both.here.attach(Descriptor());
  ASSERT_EQ(::write(both.local_there.theirs.get(), "hello", 5), 5);
  for (int round = 0; round < 6; ++round) both.step();
  char none = 0;
  EXPECT_EQ(::read(both.local_there.theirs.get(), &none, 1), 0);
}

TEST(RelayedStream, BytesThatAreMissingOrWereNeverSentAreNotBelieved) {
  RelayedStream stream(1);
  const auto take = [&stream](const Json& message) { stream.take(Fields(message, "message")); };
  Json message{{"at", 0}, {"data", "YWI="}, {"end", false}, {"got", 0}};
  take(message);
  message["at"] = 3;
  EXPECT_THROW(take(message), FieldError);
  message["at"] = 2;
  message["got"] = 1;
  EXPECT_THROW(take(message), FieldError);
}

/// Sockets that listen for TCP: inode and address, as /proc/net/tcp and tcp6 write them.
std::map<std::string, std::string> listeners() {
  std::map<std::string, std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines(fs::exists(table) ? read_file(table) : "");
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::array<std::string, 10> word;
      for (std::string& one : word) words >> one;
      if (word[3] == "0A") found[word[9]] = word[1];
    }
  }
  return found;
}

std::string listening_of(int pid) {
  const auto all = listeners();
  std::string text;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", none)) {
    const std::string target = fs::read_symlink(entry.path(), none).string();
    if (!target.starts_with("socket:[")) continue;
    const auto found = all.find(target.substr(8, target.size() - 9));
    if (found != all.end()) text += found->second + " ";
  }
  return text;
}

class ControlTest : public ClusterTest {};

TEST_F(ControlTest, NeitherMpiexecNorAProxyListensAnywhere) {
  const std::string script = "echo \"${LD_PRELOAD-none} ${TRAINYARD_CONTROL_FD-none}\"; ls -l /proc/self/fd; sleep 120";
  Json alone = command_spec(script);
  for (const bool spread : {false, true}) {
    const std::string dir = spread ? start_spread(spread_script(script)) : start(alone);
    ASSERT_TRUE(wait_for_phase(dir, "running"));
    const int mpiexec = state(dir)["mpiexec"]["pid"];
    EXPECT_EQ(listening_of(mpiexec), "") << "mpiexec";
    int proxies = 0;
    for (const std::string& folder : spread ? std::vector{dir, second(dir)} : std::vector{dir}) {
      for (const NamedProcess& one : processes(folder)) {
        if (!one.what.starts_with("hydra_pmi")) continue;
        ++proxies;
        EXPECT_EQ(listening_of(one.process.pid), "") << one.what;
      }
    }
    EXPECT_EQ(proxies, spread ? 2 : 1);
    const std::string log = dir + "/logs/rank-0.log";
    EXPECT_TRUE(eventually([&] { return text(log).starts_with("none none\n"); })) << text(log);
    EXPECT_EQ(text(log).find("socket:"), text(log).rfind("socket:")) << "more than PMI's: " << text(log);
    client_->call("run.stop", {{"dir", dir}, {"mode", "now"}});
    ended(dir);
  }
}

TEST_F(ControlTest, NothingRunsUnderAMpiexecThatDidNotLoadTheLibrary) {
  const fs::path programs = folder_.file("programs");
  fs::create_directories(programs);
  fs::copy_file(TRAINYARD_AGENT, programs / "agent");
  Json spec = command_spec("sleep 300");
  spec["paths"]["agent"] = (programs / "agent").string();
  for (const bool present : {false, true}) {
    if (present) write_file(programs / "mpiexec_control.so", "no library");
    const std::string dir = start(spec);
    const Json last = ended(dir, 60);
    EXPECT_EQ(last["phase"], "failed");
    const std::string reason = last["reason"].is_string() ? last["reason"].get<std::string>() : "";
    EXPECT_NE(reason.find("mpiexec_control.so"), std::string::npos) << reason;
    EXPECT_TRUE(processes(dir).empty());
  }
}

}  // namespace
}  // namespace trainyard::test
