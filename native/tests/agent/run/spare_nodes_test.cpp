// Which nodes a generation has where a run keeps spare ones.
#include <gtest/gtest.h>

#include "agent/run/folder/run_spec.h"
#include "common/error.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

/// One rank on each of these many nodes, the last `spares` of which wait.
Json spec_of(int nodes, int spares) {
  Json spec = {{"version", 1},
               {"program", "command"},
               {"argv", {"true"}},
               {"ranks", nodes - spares},
               {"launcher", "manual"},
               {"nodes", Json::array()},
               {"paths", {{"mpiexec", "/x/mpiexec"}}}};
  for (int index = 0; index < nodes; ++index) {
    Json node = {{"host", "n" + std::to_string(index)}, {"address", "127.0.0.1"}, {"slots", 1}, {"gpus", nullptr}};
    if (index >= nodes - spares) node["spare"] = true;
    spec["nodes"].push_back(node);
  }
  return spec;
}

std::string refusal(const Json& spec) {
  try {
    parse_run_spec(spec);
  } catch (const FieldError& error) {
    return error.what();
  }
  return "";
}

std::string hosts_of(const RunSpec& spec) {
  std::string text;
  for (const NodeSpec& node : spec.nodes) text += (text.empty() ? "" : " ") + node.host;
  return text;
}

TEST(SpareNodes, TakeThePlaceOfNodesThatAreNotThere) {
  const RunSpec spec = parse_run_spec(spec_of(5, 2));
  EXPECT_EQ(spec.usual_nodes(), 3);
  const auto present = [&spec](std::initializer_list<int> indices) {
    std::vector<NodeSpec> nodes;
    for (const int index : indices) nodes.push_back(spec.nodes[static_cast<size_t>(index)]);
    return nodes;
  };
  EXPECT_EQ(hosts_of(spec.on_nodes(spec.nodes)), "n0 n1 n2");
  EXPECT_EQ(hosts_of(spec.on_nodes(present({0, 2, 3, 4}))), "n0 n2 n3");
  EXPECT_EQ(spec.on_nodes(present({0, 2, 3, 4})).ranks, 3);
  EXPECT_EQ(hosts_of(spec.on_nodes(present({0, 4}))), "n0 n4");
  EXPECT_EQ(spec.on_nodes(present({0, 4})).ranks, 2);
}

TEST(SpareNodes, GoOnWhereTheNodeIsBackWhosePlaceTheyTook) {
  const RunSpec spec = parse_run_spec(spec_of(4, 1));
  EXPECT_EQ(hosts_of(spec.on_nodes(spec.nodes, {"n0", "n2", "n3"})), "n0 n2 n3");
  EXPECT_EQ(hosts_of(spec.on_nodes({spec.nodes[0], spec.nodes[1], spec.nodes[2]}, {"n0", "n2", "n3"})), "n0 n1 n2");
}

TEST(FewerNodes, AreAsManyAsShareTheBatchEqually) {
  Json json = spec_of(4, 0);
  json["program"] = "trainer";
  json["paths"]["trainer"] = "/x/trainer";
  json["minNodes"] = 1;
  json["argv"] = {"train", "--batch-size", "8"};
  const auto of_three = [](const Json& one) {
    const RunSpec spec = parse_run_spec(one);
    return hosts_of(spec.on_nodes({spec.nodes[0], spec.nodes[1], spec.nodes[3]}));
  };
  EXPECT_EQ(of_three(json), "n0 n1");  // 32 images of a step are no multiple of 3
  json["argv"] = {"train", "--batch-size=9"};
  EXPECT_EQ(of_three(json), "n0 n1 n3");
  json["argv"] = {"train", "--accumulate", "3"};
  EXPECT_EQ(of_three(json), "n0 n1 n3");
  json["argv"] = {"train"};
  EXPECT_EQ(of_three(json), "n0 n1");
  json["minNodes"] = 3;  // the trainer then says what does not fit
  EXPECT_EQ(of_three(json), "n0 n1 n3");
  json["argv"] = {"train", "--strategy", "parameter-server"};
  json["minNodes"] = 1;
  EXPECT_EQ(of_three(json), "n0 n1 n3");
  json["argv"] = {"train", "--planned-ranks", "6", "--batch-size", "1"};
  EXPECT_EQ(of_three(json), "n0 n1 n3");
}

TEST(SpareNodes, AreBesideAHeadWithoutRanksToo) {
  Json json = spec_of(4, 1);
  json["nodes"][0]["slots"] = 0;
  json["ranks"] = 2;
  const RunSpec spec = parse_run_spec(json);
  EXPECT_EQ(spec.usual_nodes(), 2);
  EXPECT_EQ(hosts_of(spec.on_nodes(spec.nodes)), "n0 n1 n2");
  EXPECT_EQ(hosts_of(spec.on_nodes({spec.nodes[0], spec.nodes[2], spec.nodes[3]})), "n0 n2 n3");
}

TEST(SpareNodes, AreRefusedWhereTheyCannotBe) {
  Json head = spec_of(3, 1);
  head["nodes"][0]["spare"] = true;
  EXPECT_NE(refusal(head).find("spec.nodes[0].spare must be false"), std::string::npos);
  Json between = spec_of(4, 1);
  between["nodes"][2]["spare"] = true;
  between["nodes"][3].erase("spare");
  EXPECT_NE(refusal(between).find("spec.nodes[3] is no spare"), std::string::npos);
  Json large = spec_of(3, 1);
  large["nodes"][2]["slots"] = 2;
  EXPECT_NE(refusal(large).find("spec.nodes[2].slots must be at most 1"), std::string::npos);
  Json fewest = spec_of(3, 1);
  fewest["minNodes"] = 3;
  EXPECT_NE(refusal(fewest).find("minNodes"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::test
