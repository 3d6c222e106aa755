#include "agent/ranks/silence.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

using ::testing::ElementsAre;

/// Three ranks whose logs the test writes, looked at four times in each second of a clock that the
/// test moves. They are to end after two minutes.
class Silence : public ::testing::Test {
 protected:
  Silence() { std::filesystem::create_directories(folder_.file("logs")); }

  void print(int rank) { append("logs/rank-" + std::to_string(rank) + ".log"); }
  void append(const std::string& name) { std::ofstream(folder_.file(name), std::ios::app) << "x"; }
  void pass(double seconds) {
    for (double end = now_ + seconds; now_ < end;) watch_.look(now_ += 0.25);
  }

  TemporaryFolder folder_;
  double now_ = 1000;
  SilenceWatch watch_{RunFolder(folder_.path()), 3, 120};
};

TEST_F(Silence, of_all_ranks_is_over_after_the_limit_and_told_before) {
  pass(89);
  EXPECT_FALSE(watch_.is_stalled());
  pass(3);
  EXPECT_TRUE(watch_.is_stalled());
  EXPECT_FALSE(watch_.is_over());
  pass(29);
  EXPECT_TRUE(watch_.is_over());
}

TEST_F(Silence, who_prints_each_minute_is_neither_stalled_nor_over) {
  for (int minute = 0; minute < 30; ++minute) {
    pass(60);
    EXPECT_FALSE(watch_.is_stalled());
    print(minute % 3);
  }
}

TEST_F(Silence, who_prints_just_within_the_limit_is_not_called_stalled_each_time) {
  print(0);
  for (int time = 0; time < 3; ++time) {
    pass(100);
    EXPECT_EQ(watch_.is_stalled(), time == 0) << "the first such silence is longer than any before";
    print(0);
    EXPECT_TRUE(watch_.look(now_ += 0.25));
    EXPECT_NEAR(watch_.seconds_before(), 100, 1);
    EXPECT_FALSE(watch_.is_stalled());
    if (time == 0) {
      pass(50);
      print(0);
    }
  }
}

TEST_F(Silence, ends_with_a_figure) {
  for (const char* figures : {"metrics.jsonl", "figures.jsonl"}) {
    pass(115);
    append(figures);
    pass(1);
    EXPECT_LT(watch_.seconds(), 2) << figures;
  }
}

TEST_F(Silence, what_stood_in_the_logs_before_counts_for_nothing) {
  print(0);
  pass(1);
  EXPECT_NEAR(watch_.seconds(), 1, 0.5);
  EXPECT_NEAR(watch_.seconds_of(0), watch_.seconds_of(1), 0.01);
}

TEST_F(Silence, names_the_ranks_that_were_silent_longest) {
  pass(40);
  print(0);
  print(2);
  pass(60);
  print(0);
  pass(121);
  EXPECT_TRUE(watch_.is_over());
  EXPECT_THAT(watch_.longest({false, false, false}), ElementsAre(1));
  EXPECT_NEAR(watch_.seconds_of(1), 221, 1);
  EXPECT_THAT(watch_.longest({false, true, false}), ElementsAre(2)) << "a rank that has ended";
}

TEST_F(Silence, does_not_count_time_in_which_nobody_looked) {
  pass(100);
  now_ += 86'400;  // the machine was frozen
  pass(1);
  EXPECT_FALSE(watch_.is_over());
  now_ -= 86'400;
  pass(1);
  EXPECT_FALSE(watch_.is_over());
}

TEST_F(Silence, is_not_watched_without_a_limit) {
  SilenceWatch off(RunFolder(folder_.path()), 3, 0);
  off.look(0);
  off.look(4);
  EXPECT_FALSE(off.watches());
  EXPECT_FALSE(off.is_stalled() || off.is_over());
}

}  // namespace
}  // namespace trainyard::test
