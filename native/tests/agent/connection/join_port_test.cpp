// The port at which nodes join, while others crowd it who hold no key.
#include "agent/connection/join_port.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "agent/connection/addresses.h"
#include "agent/system/clock.h"
#include "tests/agent/support/cluster_fixture.h"
#include "tests/agent/support/relay.h"

namespace trainyard::test {
namespace {

constexpr int kStrangers = 400;

/// A connection to 127.0.0.2 from an address of this machine; none where nobody listens.
Descriptor connect_from(uint32_t address, int port) {
  Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in from{}, to{};
  from.sin_family = to.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(address);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  to.sin_port = htons(static_cast<uint16_t>(port));
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) return Descriptor();
  const int begun = ::connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  return begun == 0 || errno == EINPROGRESS ? std::move(made) : Descriptor();
}

/// Whether the other side has closed it; what it says is thrown away.
bool is_closed(const Descriptor& connection) {
  char bytes[4096];
  ssize_t got = 0;
  while ((got = ::recv(connection.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
  }
  return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOTCONN);
}

size_t count_open(const std::vector<Descriptor>& connections) {
  return static_cast<size_t>(
      std::ranges::count_if(connections, [](const Descriptor& one) { return one && !is_closed(one); }));
}

/// Whether the system has still to bring it to the other side.
bool is_under_way(const Descriptor& connection) {
  sockaddr_in other{};
  socklen_t length = sizeof other;
  return ::getpeername(connection.get(), reinterpret_cast<sockaddr*>(&other), &length) != 0;
}

/// Keeps that many connections open to 127.0.0.2: half from one address, half from as many; half
/// idle, half not. They try again faster than a system does, so that they come first where there is
/// a queue.
class Crowd {
 public:
  explicit Crowd(int port) : port_(port), thread_([this] { run(); }) {}
  ~Crowd() {
    over_ = true;
    thread_.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  int made() const { return made_; }

 private:
  void run() {
    std::vector<Descriptor> all(kStrangers);
    std::vector<double> since(kStrangers);
    while (!over_) {
      for (uint32_t index = 0; index < kStrangers; ++index) {
        Descriptor& one = all[index];
        const bool tries = one && is_under_way(one) && monotonic_seconds() - since[index] < 0.3;
        if (tries || (one && !is_under_way(one) && !is_closed(one))) continue;
        since[index] = monotonic_seconds();
        // Never from 127.0.0.2: a connection's own port there could be the one that the head wants.
        one = connect_from(INADDR_LOOPBACK + (index % 2 == 0 ? 9 : 0x100 + index), port_);
        if (!one) continue;
        ++made_;
        if (index % 4 < 2) ::send(one.get(), "{\"host\":\"gpu2\",", 15, MSG_NOSIGNAL);
      }
      sleep_ms(50);
    }
  }

  int port_;
  std::atomic<bool> over_ = false;
  std::atomic<int> made_ = 0;
  std::thread thread_;
};

TEST(JoinPort, KeepsTheNewestOfAnAddressAndOfAll) {
  JoinPort port("127.0.0.2", 47190, 47199, std::string(64, 'a'));
  const auto look = [&](const std::vector<Descriptor>& at, size_t wanted) {
    return eventually(
        [&] {
          EXPECT_TRUE(port.step().empty());
          return count_open(at) == wanted;
        },
        4);
  };
  std::vector<Descriptor> same(100), others(300);
  for (Descriptor& one : same) one = connect_from(INADDR_LOOPBACK, port.port());
  EXPECT_TRUE(look(same, 64)) << count_open(same);
  EXPECT_TRUE(is_closed(same.front()));
  EXPECT_FALSE(is_closed(same.back()));
  for (uint32_t index = 0; index < others.size(); ++index)
    others[index] = connect_from(INADDR_LOOPBACK + 0x100 + index, port.port());
  EXPECT_TRUE(look(same, 0)) << count_open(same);
  EXPECT_TRUE(look(others, 256)) << count_open(others);
  EXPECT_TRUE(is_closed(others.front()));
  EXPECT_FALSE(is_closed(others.back()));
}

TEST(JoinPort, ClosesWhoSaysMoreThanAGreetingWithoutAnEnd) {
  JoinPort port("127.0.0.2", 47190, 47199, std::string(64, 'a'));
  const Descriptor stranger = connect_from(INADDR_LOOPBACK, port.port());
  const std::string endless(2000, 'x');
  EXPECT_TRUE(eventually([&] { return ::send(stranger.get(), endless.data(), endless.size(), MSG_NOSIGNAL) > 0; }));
  const double begun = monotonic_seconds();
  EXPECT_TRUE(eventually([&] { return port.step().empty() && is_closed(stranger); }, 4));
  EXPECT_LT(monotonic_seconds() - begun, 4.5) << "it was closed for its silence";
}

class JoinCrowd : public ClusterTest {};

TEST_F(JoinCrowd, KeepsNoNodeOutNorOneThatFlaps) {
  // A range of its own: another run of these tests may hold ports of the usual one.
  Crowd crowd(47399);  // the first that a head takes of this range
  Json spec = spread_script("n=0; while [ $n -lt 100000 ]; do n=$((n+1)); echo line $n; sleep 0.02; done");
  spec["portRange"] = "47300-47399";
  spec["limits"]["startTimeout"] = 60;
  const std::string dir = start(spec);
  const Json joining = client_->call("run.joining", {{"dir", dir}});
  ASSERT_EQ(joining["port"], 47399);
  ASSERT_TRUE(eventually([&] { return crowd.made() >= kStrangers; }));
  Relay relay(47399);
  join_second(dir, "127.0.0.1", relay.port());
  ASSERT_TRUE(wait_for_phase(dir, "running")) << text(dir + "/events.jsonl");
  const std::string log = "/logs/rank-3.log";
  for (int flap = 0; flap < 2; ++flap) {
    ASSERT_TRUE(eventually([&] { return relay.cut() == 1; }));
    const size_t beyond = text(second(dir) + log).size() + 1000;  // which comes to the head once the node is back
    ASSERT_TRUE(eventually([&] { return text(dir + log).size() > beyond; })) << text(dir + "/events.jsonl");
  }
  EXPECT_EQ(state(dir)["phase"], "running");
  EXPECT_TRUE(events(dir, "node_lost").empty()) << text(dir + "/events.jsonl");
  EXPECT_GT(crowd.made(), kStrangers) << "no stranger was put out";
  client_->call("run.stop", {{"dir", dir}, {"mode", "now"}, {"by", "a test"}});
  ended(dir);
}

}  // namespace
}  // namespace trainyard::test
