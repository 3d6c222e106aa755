// Which evaluation was the best, and for how many there has been no better one.
#include "trainer/train/loop/best_step.h"

#include <gtest/gtest.h>

#include "tests/checkpoint/run_folder.h"

namespace trainyard {
namespace {

class BestStep : public testing::Test {
 protected:
  void line(int generation, int64_t step, double top1, const std::string& about = "") {
    std::ofstream(folder_.path() + "/metrics.jsonl", std::ios::app)
        << R"({"kind":"eval","time":1,"generation":)" << generation << R"(,"step":)" << step << R"(,"top1":)" << top1
        << about << "}\n";
  }
  void start(int generation, int64_t from) {
    std::ofstream(folder_.path() + "/metrics.jsonl", std::ios::app)
        << R"({"kind":"start","time":1,"generation":)" << generation << R"(,"resumed_from":"step-)" << from << "\"}\n";
  }
  std::optional<int64_t> best() const { return best_step(folder_.path(), "/val"); }
  int64_t since() const { return evaluations_since_best(folder_.path(), "/val"); }
  RunFolder folder_;
};

TEST_F(BestStep, OfEqualsIsThatOfTheLowestLossElseTheNewest) {
  EXPECT_EQ(best(), std::nullopt);
  EXPECT_EQ(since(), 0);
  line(1, 10, 0.5);
  EXPECT_EQ(since(), 0);
  line(1, 20, 0.7);
  line(1, 30, 0.7);
  line(1, 40, 0.6);
  EXPECT_EQ(best(), 30);
  EXPECT_EQ(since(), 2);  // since the first of them
  line(1, 35, 0.7, R"(,"loss":0.25)");
  line(1, 50, 0.7, R"(,"loss":0.25)");
  line(1, 60, 0.7, R"(,"loss":0.5)");
  line(1, 70, 0.7, R"(,"loss":null)");
  line(1, 80, 0.6, R"(,"loss":0.125)");
  EXPECT_EQ(best(), 50);
  EXPECT_EQ(since(), 7);
}

TEST_F(BestStep, TheLastLossOfAStepCounts) {
  line(1, 10, 0.5, R"(,"loss":0.25)");
  line(1, 20, 0.5, R"(,"loss":0.5)");
  EXPECT_EQ(best(), 10);
  line(1, 10, 0.5, R"(,"loss":0.75)");
  EXPECT_EQ(best(), 20);
  start(2, 10);
  EXPECT_EQ(best(), 10);
}

TEST_F(BestStep, CountsAStepThatWasEvaluatedTwiceOnce) {
  line(1, 10, 0.5);
  line(1, 20, 0.4);
  line(1, 20, 0.3);
  EXPECT_EQ(since(), 1);
}

TEST_F(BestStep, ForgetsWhatANewGenerationRepeats) {
  line(1, 10, 0.5);
  line(1, 20, 0.9);
  line(1, 30, 0.8);
  start(2, 10);
  line(2, 20, 0.4);
  EXPECT_EQ(best(), 10);
  EXPECT_EQ(since(), 1);
}

TEST_F(BestStep, IsOfTheImagesOfTheRun) {
  line(1, 10, 0.5, R"(,"data":"/val")");
  line(1, 20, 0.4, R"(,"data":"/val")");
  line(1, 20, 0.9, R"(,"data":"/train","once":true)");
  EXPECT_EQ(best(), 10);
  EXPECT_EQ(since(), 1);
}

}  // namespace
}  // namespace trainyard
