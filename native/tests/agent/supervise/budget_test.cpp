// What a budget makes of prices and times, by hand calculation.
#include "agent/supervise/budget.h"

#include <sstream>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

RunSpec two_nodes() {
  RunSpec spec;
  spec.nodes = {{.host = "a", .address = "a", .gpus = {0, 1}}, {.host = "b", .address = "b", .gpus = {3}}};
  return spec;
}

Json priced(const char* per, double amount) {
  return {{"price", {{"per", per}, {"amount", amount}, {"currency", "EUR"}}},
          {"budget", {{"amount", 10}, {"warnAt", 0.5}, {"stop", true}}},
          // 2 h at 3 EUR, and what another currency was paid for.
          {"earlier",
           {{{"from", 1000}, {"to", 8200}, {"perHour", 3}, {"currency", "EUR"}},
            {{"from", 9000}, {"to", 12600}, {"perHour", 50}, {"currency", "USD"}},
            {{"from", 13000}, {"to", 16600}}}}};
}

std::vector<std::string> kinds(const TemporaryFolder& folder) {
  std::istringstream lines(read_file(folder.file("events.jsonl")));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line)["kind"]);
  return found;
}

TEST(Budget, CountsEarlierStartsAndEachNodeOrGpu) {
  EXPECT_DOUBLE_EQ(Budget(priced("node", 1.5), two_nodes()).cost(100'000, 103'600), 6 + 2 * 1.5);
  RunSpec headless = two_nodes();
  headless.nodes.insert(headless.nodes.begin(), {.host = "login", .address = "login", .slots = 0, .gpus = {}});
  EXPECT_DOUBLE_EQ(Budget(priced("node", 1.5), headless).cost(100'000, 103'600), 6 + 2 * 1.5);
  EXPECT_DOUBLE_EQ(Budget(priced("gpu", 1.5), two_nodes()).cost(100'000, 101'800), 6 + 3 * 1.5 / 2);
  EXPECT_DOUBLE_EQ(Budget(priced("gpu", 1.5), RunSpec{}).cost(100'000, 200'000), 6);
  EXPECT_DOUBLE_EQ(Budget(priced("node", 2), RunSpec{}).cost(100'000, 103'600), 6 + 2);
}

TEST(Budget, StopsOnceWhenTheTimeLimitIsOver) {
  const TemporaryFolder folder;
  write_file(folder.file("events.jsonl"), "");
  Journal journal(folder.file("events.jsonl"));
  RunSpec spec;
  spec.time_limit = 5400;
  Budget budget(Json::object(), spec);
  EXPECT_FALSE(budget.look(1000, 6399, journal));
  const auto stop = budget.look(1000, 6400, journal);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->mode, StopRequest::Mode::checkpoint);
  EXPECT_EQ(budget.why(*stop), "its time limit of 90 min is over");
  EXPECT_EQ(budget.why({StopRequest::Mode::checkpoint, "ada"}), std::nullopt);
  EXPECT_FALSE(budget.look(1000, 9000, journal));
  spec.time_limit = 7200;
  EXPECT_EQ(Budget(Json::object(), spec).look(0, 7200, journal)->by, "its time limit of 2 h");
  spec.time_limit = 7.5;
  EXPECT_EQ(Budget(Json::object(), spec).look(0, 8, journal)->by, "its time limit of 7.5 s");
}

TEST(Budget, WarnsOnceAndStopsOnce) {
  const TemporaryFolder folder;
  write_file(folder.file("events.jsonl"), "");
  Journal journal(folder.file("events.jsonl"));
  Json json = priced("node", 2);  // of one node: 4 EUR are left, so 2 h
  json["budget"]["warnAt"] = 0.7;
  Budget budget(json, RunSpec{});
  EXPECT_FALSE(budget.look(0, 1799, journal));
  EXPECT_EQ(kinds(folder), std::vector<std::string>{});
  EXPECT_FALSE(budget.look(0, 1801, journal));
  EXPECT_FALSE(budget.look(0, 7199, journal));
  EXPECT_EQ(kinds(folder), std::vector<std::string>{"budget_low"});
  const auto stop = budget.look(0, 7201, journal);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->mode, StopRequest::Mode::checkpoint);
  EXPECT_EQ(budget.why(*stop), "its budget of 10.00 EUR is spent");
  EXPECT_EQ(budget.why({StopRequest::Mode::checkpoint, "ada"}), std::nullopt);
  EXPECT_FALSE(budget.look(0, 7202, journal));
  EXPECT_EQ(kinds(folder), (std::vector<std::string>{"budget_low", "budget_spent"}));
}

TEST(Budget, OnlySaysSoWhereNoStopWasAskedFor) {
  const TemporaryFolder folder;
  write_file(folder.file("events.jsonl"), "");
  Journal journal(folder.file("events.jsonl"));
  Json json = priced("node", 2);
  json["budget"]["stop"] = false;
  EXPECT_FALSE(Budget(json, RunSpec{}).look(0, 1e6, journal));
  EXPECT_EQ(kinds(folder), std::vector<std::string>{"budget_spent"});
  EXPECT_FALSE(Budget(Json{{"argv", {"x"}}}, RunSpec{}).look(0, 1e9, journal));
}

TEST(Budget, NeedsAPrice) {
  Json json = priced("node", 2);
  json.erase("price");
  EXPECT_THROW(Budget(json, RunSpec{}), FieldError);
  EXPECT_THROW(Budget(priced("hour", 2), RunSpec{}), FieldError);
}

}  // namespace
}  // namespace trainyard::test
