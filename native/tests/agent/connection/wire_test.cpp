// The connection between a node and the head of its run: nothing is believed before both have
// proved the key.
#include "agent/connection/wire.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::test {
namespace {

const std::string kKey(64, 'a');

std::array<Descriptor, 2> make_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Lets both sides read and write until nothing moves any more.
void settle(Wire& one, Wire& other) {
  for (int round = 0; round < 6; ++round) {
    one.pump();
    other.pump();
  }
}

/// What stands in the socket, if anything.
std::string read_some(const Descriptor& socket) {
  std::string text(65536, '\0');
  const ssize_t got = ::read(socket.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

void write_text(const Descriptor& socket, const std::string& text) {
  ASSERT_EQ(::write(socket.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

/// A head on one end; on the other whatever the test writes.
struct Attack {
  std::array<Descriptor, 2> ends = make_pair();
  Wire head{std::move(ends[0]), Wire::Side::head, kKey};
  std::string greeting;
  Attack() {
    head.pump();
    greeting = read_some(ends[1]);
  }
};

/// A relay between a head and a node, which have proved the key to one another. The test carries
/// what they say.
struct Relayed : Attack {
  std::array<Descriptor, 2> pair = make_pair();
  Descriptor& node_end = pair[0];
  Wire node{std::move(pair[1]), Wire::Side::node, kKey, "gpu2"};
  Relayed() {
    write_text(node_end, greeting);
    node.pump();
    write_text(ends[1], read_some(node_end));
    head.pump();
    write_text(node_end, read_some(ends[1]));
    node.pump();
  }
};

TEST(WireTest, TwoThatHoldTheKeyTalkBothWays) {
  auto ends = make_pair();
  Wire head(std::move(ends[0]), Wire::Side::head, kKey), node(std::move(ends[1]), Wire::Side::node, kKey, "gpu2");
  settle(head, node);
  ASSERT_TRUE(head.authenticated());
  ASSERT_TRUE(node.authenticated());
  EXPECT_EQ(head.host(), "gpu2");
  for (int number = 0; number < 3; ++number) {
    head.send({{"number", number}});
    node.send({{"number", -number}});
  }
  settle(head, node);
  for (int number = 0; number < 3; ++number) {
    EXPECT_EQ(node.next(), Json({{"number", number}}));
    EXPECT_EQ(head.next(), Json({{"number", -number}}));
  }
  EXPECT_FALSE(node.next());
}

TEST(WireTest, OneThatEndsSendingHasItsLastMessageReadAndReadsOn) {
  auto ends = make_pair();
  auto head = std::make_unique<Wire>(std::move(ends[0]), Wire::Side::head, kKey);
  Wire node(std::move(ends[1]), Wire::Side::node, kKey, "gpu2");
  settle(*head, node);
  node.send({{"kind", "settled"}});
  EXPECT_TRUE(node.pump());
  node.end_sending();
  head->send({{"kind", "beat"}});
  bool open = true;
  for (int round = 0; round < 3 && open; ++round) open = head->pump();
  EXPECT_FALSE(open);
  EXPECT_EQ(head->next(), Json({{"kind", "settled"}}));
  EXPECT_TRUE(node.pump()) << "the head has not closed it yet";
  EXPECT_EQ(node.next(), Json({{"kind", "beat"}}));
  head.reset();
  EXPECT_FALSE(node.pump());
}

TEST(WireTest, BytesFollowAMessageAsTheyAre) {
  auto ends = make_pair();
  Wire head(std::move(ends[0]), Wire::Side::head, kKey), node(std::move(ends[1]), Wire::Side::node, kKey, "gpu2");
  settle(head, node);
  std::string bytes(Wire::kMostBytes, '\n');
  for (size_t at = 0; at < bytes.size(); at += 3) bytes[at] = static_cast<char>(at % 251);
  head.send({{"kind", "data"}}, bytes);
  head.send({{"kind", "short"}}, "\n");
  head.send({{"kind", "none"}});
  std::vector<std::string> kinds;
  std::vector<std::string> came;
  for (int round = 0; round < 100 && kinds.size() < 3; ++round) {
    head.pump();
    node.pump();
    while (const auto message = node.next()) {
      kinds.push_back((*message)["kind"]);
      came.push_back(node.bytes());
    }
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"data", "short", "none"}));
  ASSERT_EQ(came.size(), 3U);
  EXPECT_TRUE(came[0] == bytes);
  EXPECT_EQ(came[1], "\n");
  EXPECT_EQ(came[2], "");
  EXPECT_EQ(node.why(), "");
}

TEST(WireTest, AChangedByteOrCountOfATrueMessageEndsTheConnection) {
  const auto came = [](const std::function<void(std::string&)>& change) {
    Relayed between;
    between.head.send({{"kind", "data"}}, "bytes");
    between.head.pump();
    std::string text = read_some(between.ends[1]);
    change(text);
    write_text(between.node_end, text);
    between.node.pump();
    return between.node.next().has_value() && between.node.bytes() == "bytes";
  };
  EXPECT_TRUE(came([](std::string&) {}));
  EXPECT_FALSE(came([](std::string& text) { text.back() ^= 1; }));
  EXPECT_FALSE(came([](std::string& text) { text.replace(text.find("+5"), 2, "+4"); }));
  EXPECT_FALSE(came([](std::string& text) { text.erase(text.find("+5"), 2); }));
}

TEST(WireTest, AForgedHeaderEndsTheConnection) {
  const std::string mac(64, 'a');
  for (const std::string& line : {mac + "+4 {}\nabcd", mac + "+ {}\n", mac + "+0 {}\n", mac + "+x {}\n",
                                  mac + "-4 {}\nabcd", mac + "+99999999 {}\n"}) {
    auto ends = make_pair();
    const int raw = ends[0].get();
    Wire head(std::move(ends[0]), Wire::Side::head, kKey), node(std::move(ends[1]), Wire::Side::node, kKey, "gpu2");
    settle(head, node);
    ASSERT_EQ(::write(raw, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    node.pump();
    EXPECT_FALSE(node.next()) << line;
    EXPECT_FALSE(node.pump()) << line;
    EXPECT_FALSE(node.why().empty()) << line;
  }
}

TEST(WireTest, AnotherKeyIsRefusedByTheHead) {
  Attack attack;
  write_text(attack.ends[1],
             to_line({{"host", "gpu2"}, {"challenge", std::string(64, '1')}, {"proof", std::string(64, '2')}}) + "\n");
  EXPECT_FALSE(attack.head.pump());
  EXPECT_EQ(attack.head.why(), "it does not hold this run's key");
  EXPECT_FALSE(attack.head.authenticated());
}

TEST(WireTest, ANodeKnowsTheHeadOfAnotherRunByItsGreeting) {
  auto ends = make_pair();
  Wire head(std::move(ends[0]), Wire::Side::head, kKey);
  Wire node(std::move(ends[1]), Wire::Side::node, std::string(64, 'b'), "gpu2");
  head.pump();
  EXPECT_FALSE(node.pump());
  EXPECT_EQ(node.why(), "another run listens there");
  EXPECT_TRUE(node.is_stranger());

  auto others = make_pair();
  Wire beside(std::move(others[1]), Wire::Side::node, kKey, "gpu2");
  write_text(others[0], "SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_FALSE(beside.pump());
  EXPECT_TRUE(beside.is_stranger());

  // A head that is full closes a connection that has proved nothing: it is still this run's.
  auto last = make_pair();
  Wire late(std::move(last[1]), Wire::Side::node, kKey, "gpu2");
  write_text(last[0], Attack().greeting);
  EXPECT_TRUE(late.pump());
  last[0] = Descriptor();
  EXPECT_FALSE(late.pump());
  EXPECT_FALSE(late.is_stranger());
}

TEST(WireTest, NoCommandIsBelievedBeforeTheKeyIsProved) {
  Attack attack;
  write_text(attack.ends[1], "{\"kind\":\"started\",\"generation\":1,\"rank\":0,\"text\":\"{}\"}\n");
  EXPECT_FALSE(attack.head.pump());
  EXPECT_FALSE(attack.head.next());

  // The other way round: a false head that sends a node commands at once, and one that answers
  // without the key.
  auto ends = make_pair();
  Wire node(std::move(ends[1]), Wire::Side::node, kKey, "gpu2");
  write_text(ends[0], "{\"kind\":\"generation\",\"number\":1,\"argv\":[\"/bin/sh\"]}\n");
  EXPECT_FALSE(node.pump());
  EXPECT_FALSE(node.next());

  auto others = make_pair();
  Wire fooled(std::move(others[1]), Wire::Side::node, kKey, "gpu2");
  write_text(others[0], attack.greeting);
  EXPECT_TRUE(fooled.pump());
  write_text(others[0], "{\"proof\":\"" + std::string(64, '0') + "\"}\n" + std::string(64, '0') +
                            " {\"kind\":\"generation\",\"number\":1}\n");
  EXPECT_FALSE(fooled.pump());
  EXPECT_FALSE(fooled.next());
}

TEST(WireTest, TheNodesOwnProofIsNoProofOfTheHead) {
  auto ends = make_pair();
  Wire node(std::move(ends[1]), Wire::Side::node, kKey, "gpu2");
  write_text(ends[0], Attack().greeting);
  node.pump();
  const Json hello = parse_json(read_some(ends[0]));
  write_text(ends[0], to_line({{"proof", hello["proof"]}}) + "\n");
  EXPECT_FALSE(node.pump());
  EXPECT_FALSE(node.authenticated());
}

TEST(WireTest, AChangedOrRepeatedLineEndsTheConnection) {
  for (const bool repeat : {true, false}) {
    Relayed between;
    ASSERT_TRUE(between.node.authenticated() && between.head.authenticated());
    between.node.send({{"kind", "beat"}});
    between.node.pump();
    std::string line = read_some(between.node_end);
    write_text(between.ends[1], line);
    if (!repeat) line[line.size() - 4] ^= 1;
    write_text(between.ends[1], line);
    between.head.pump();
    EXPECT_TRUE(between.head.next());
    EXPECT_FALSE(between.head.next());
    EXPECT_EQ(between.head.why(), "a line was not written by the other side");
    EXPECT_FALSE(between.head.pump());
  }
}

TEST(WireTest, AnEndlessGreetingIsRefused) {
  Attack attack;
  write_text(attack.ends[1], std::string(4000, 'x') + "\n");
  EXPECT_FALSE(attack.head.pump());
}

}  // namespace
}  // namespace trainyard::test
