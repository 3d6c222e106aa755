// What an own program reports on a node that is not the head comes to the head's figures.jsonl.
#include "agent/join/node_figures.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "agent/cluster/head_figures.h"
#include "agent/system/clock.h"
#include "common/files.h"
#include "tests/agent/support/cluster_fixture.h"
#include "tests/agent/support/relay.h"

namespace trainyard::test {
namespace {

/// "writer:tag@step=value source" of each line, in order of these words.
std::vector<std::string> figures_of(const std::string& dir) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(dir + "/figures.jsonl")) return found;
  std::istringstream lines(read_file(dir + "/figures.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json one = Json::parse(line);
    found.push_back(one["writer"].get<std::string>() + ":" + one["tag"].get<std::string>() + "@" + one["step"].dump() +
                    "=" + one["value"].dump() + " " + one["source"].get<std::string>());
  }
  std::sort(found.begin(), found.end());
  return found;
}
using Lines = std::vector<std::string>;

class NodeFiguresTest : public ClusterTest {
 protected:
  /// Appends this line to the metrics.jsonl of the rank's own node.
  static std::string report(const std::string& line) {
    return "echo '" + line + "' >> \"$TRAINYARD_RUN_DIR/metrics.jsonl\"; ";
  }
};

TEST_F(NodeFiguresTest, AreThoseOfTheRunWhereRank0IsThere) {
  Json spec = spread_script("if [ $PMI_RANK = 0 ]; then " + report(R"({"step":1,"acc":0.5})") + "sleep 2; " +
                            report(R"({"step":2,"acc":0.9})") + report("wrong") + "fi");
  spec["ranks"] = 2;
  spec["nodes"][0]["slots"] = 0;
  const std::string dir = start_spread(spec);
  const Lines first{":acc@1=0.5 gpu2:metrics.jsonl"};
  EXPECT_TRUE(eventually([&] { return figures_of(dir) == first; })) << "live";
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(figures_of(dir), (Lines{first.front(), ":acc@2=0.9 gpu2:metrics.jsonl"}));
  ASSERT_EQ(events(dir, "figures_passed_over").size(), 1U);
  EXPECT_EQ(events(dir, "figures_passed_over").front()["file"], "gpu2:metrics.jsonl");
}

TEST_F(NodeFiguresTest, OfOtherRanksNameTheirNode) {
  const std::string dir = start_spread(spread_script("case $PMI_RANK in 0) " + report(R"({"step":1,"loss":4})") +
                                                     ";; 2) " + report(R"({"step":1,"loss":3})") + ";; 3) " +
                                                     report(R"({"step":1,"loss":2,"rank":3})") + ";; esac"));
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(figures_of(dir), (Lines{":loss@1=4.0 metrics.jsonl", "node gpu2:loss@1=3.0 gpu2:metrics.jsonl",
                                    "rank 3:loss@1=2.0 gpu2:metrics.jsonl"}));
}

TEST_F(NodeFiguresTest, AreThereOnceWhereTheConnectionIsCut) {
  Json spec = spread_script(
      "if [ $PMI_RANK = 2 ]; then for step in 1 2 3 4 5 6 7 8; do echo \"{\\\"step\\\":$step,"
      "\\\"loss\\\":$step}\" >> \"$TRAINYARD_RUN_DIR/metrics.jsonl\"; sleep 0.8; done; fi");
  const std::string dir = start(spec);
  Relay relay(client_->call("run.joining", {{"dir", dir}})["port"]);
  join_second(dir, "127.0.0.1", relay.port());
  int cuts = 0;
  EXPECT_TRUE(eventually([&] {
    if (!figures_of(dir).empty()) cuts += relay.cut();
    sleep_ms(300);
    return cuts >= 3;
  }));
  EXPECT_EQ(ended(dir)["phase"], "finished");
  Lines expected;
  for (int step = 1; step <= 8; ++step) {
    expected.push_back("node gpu2:loss@" + std::to_string(step) + "=" + std::to_string(step) + ".0 gpu2:metrics.jsonl");
  }
  EXPECT_EQ(figures_of(dir), expected);
}

TEST(HeadFigures, PassOverLinesThatAreNoFigures) {
  TemporaryFolder folder;
  HeadFigures figures(RunFolder(folder.path()), "gpu2");
  const Json line{{"tag", "loss"},   {"step", 1},    {"value", nullptr},         {"time", 5},
                  {"generation", 1}, {"writer", ""}, {"source", "metrics.jsonl"}};
  const auto message = [](uint64_t offset, const std::string& lines) {
    return Json{{"kind", "figures"}, {"offset", offset}, {"lines", lines}};
  };
  const std::string good = to_line(line) + "\n";
  figures.take(message(100, good));
  EXPECT_EQ(figures.copied(), 100 + good.size());
  EXPECT_THROW(figures.take(message(100, good)), FieldError) << "a second time";
  std::string odd = "no JSON\n";
  for (const char* field : {"tag", "step", "writer", "source", "generation"}) {
    Json wrong = line;
    wrong[field] = Json::array();
    odd += to_line(wrong) + "\n";
  }
  Json late = line;
  late["step"] = 2;
  late["time"] = 1.8e18;  // in nanoseconds, as time.time_ns() gives it
  odd += to_line(late) + "\n";
  figures.take(message(100 + good.size(), odd));
  EXPECT_EQ(figures.copied(), 100 + good.size() + odd.size()) << "or the node sends them again and again";
  EXPECT_EQ(figures_of(folder.path()),
            (Lines{"node gpu2:loss@1=null gpu2:metrics.jsonl", "node gpu2:loss@2=null gpu2:metrics.jsonl"}));
  HeadFigures others(RunFolder(folder.path()), "gpu3");
  others.begin_at(7);
  EXPECT_EQ(others.copied(), 7);
}

TEST(NodeFigures, OfOneFolderAreSentByOneNode) {
  TemporaryFolder folder;
  const RunFolder run(folder.path());
  for (const char* host : {"gpu2", "gpu3"})
    std::filesystem::create_directories(folder.file(std::string("nodes/") + host));
  auto first = std::make_unique<NodeFigures>(run, "gpu2");
  NodeFigures second(run, "gpu3");
  first->begin(1);
  second.begin(1);
  EXPECT_GT(first->pid(), 0);
  EXPECT_LT(second.pid(), 0);
  first.reset();
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  const Descriptor other(ends[0]);
  Wire wire(Descriptor(ends[1]), Wire::Side::node, "key", "gpu3");
  EXPECT_TRUE(eventually([&] {
    second.pump(wire);
    return second.pid() > 0;
  })) << "once the first is gone";
}

}  // namespace
}  // namespace trainyard::test
