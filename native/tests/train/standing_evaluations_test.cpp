// Which evaluations stand after restarts: the same histories as the TypeScript side reads.
#include "trainer/train/log/standing_evaluations.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace trainyard {
namespace {

/// test/unit/core/model/evaluations.test.ts writes this file: random histories of a run, and the
/// steps whose evaluations stand at their end.
TEST(StandingEvaluations, AreThoseOfTheClientsReader) {
  std::ifstream file(std::string(TRAINYARD_FIXTURES) + "/evaluations.jsonl");
  int histories = 0;
  for (std::string text; std::getline(file, text); histories++) {
    const auto history = nlohmann::json::parse(text);
    StandingEvaluations standing("/images/validation");
    std::istringstream lines(history["metrics"].get<std::string>());
    for (std::string line; std::getline(lines, line);) standing.read(line);
    std::vector<std::vector<double>> found;
    for (const auto& [step, top1] : standing.top1()) found.push_back({static_cast<double>(step), top1});
    EXPECT_EQ(nlohmann::json(found), history["standing"]) << "history " << histories + 1;
  }
  EXPECT_GE(histories, 40);
}

TEST(StandingEvaluations, PassesOverWhatIsNoLine) {
  StandingEvaluations standing;
  for (const char* line : {"", "{", "[]", R"({"kind":"eval"})", R"({"kind":"eval","generation":1,"step":"x","top1":1})",
                           R"({"kind":"start","generation":1,"resumed_from":7})", R"({"kind":"checkpoint","step":1})"})
    standing.read(line);
  EXPECT_TRUE(standing.top1().empty());
}

TEST(StandingEvaluations, TheFirstCheckpointStandsForAMissingStartLine) {
  StandingEvaluations standing;
  standing.read(R"({"kind":"start","time":1,"generation":1,"resumed_from":null})");
  standing.read(R"({"kind":"eval","time":2,"generation":1,"step":10,"top1":0.5,"seconds":1})");
  standing.read(R"({"kind":"eval","time":3,"generation":1,"step":20,"top1":0.9,"seconds":1})");
  standing.read(R"({"kind":"checkpoint","time":4,"generation":2,"step":15})");
  EXPECT_EQ(standing.top1(), (std::map<int64_t, double>{{10, 0.5}}));
}

TEST(StandingEvaluations, OfOtherImagesDoNotCount) {
  const auto line = [](int step, const char* top1, const char* about) {
    return R"({"kind":"eval","time":2,"generation":1,"seconds":1,"step":)" + std::to_string(step) + R"(,"top1":)" +
           top1 + about + "}";
  };
  StandingEvaluations standing("/val");
  standing.read(line(10, "0.9", R"(,"data":"/train","once":true)"));
  standing.read(line(10, "0.5", R"(,"data":"/val/","once":true)"));
  standing.read(line(20, "0.6", R"(,"data":"/val")"));
  standing.read(line(20, "0.9", R"(,"data":"/train","once":true)"));
  standing.read(line(30, "0.7", ""));
  EXPECT_EQ(standing.top1(), (std::map<int64_t, double>{{10, 0.5}, {20, 0.6}, {30, 0.7}}));

  StandingEvaluations unnamed;  // the first images count
  unnamed.read(line(10, "0.5", R"(,"data":"/val","once":true)"));
  unnamed.read(line(20, "0.9", R"(,"data":"/train","once":true)"));
  EXPECT_EQ(unnamed.top1(), (std::map<int64_t, double>{{10, 0.5}}));
}

}  // namespace
}  // namespace trainyard
