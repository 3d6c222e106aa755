#include "agent/ranks/hang.h"

#include <gtest/gtest.h>

namespace trainyard::test {
namespace {

TEST(Hang, NamesTheStoppedOrElseTheIdle) {
  EXPECT_EQ(judge({{0, 'R', 0.9}, {1, 'T', 0}}).ranks, std::vector<int>{1});
  EXPECT_EQ(judge({{0, 'R', 0.9}, {1, 'S', 0}}).ranks, std::vector<int>{1});
  EXPECT_TRUE(judge({{0, 'S', 0}, {1, 'S', 0}}).ranks.empty());
  EXPECT_TRUE(judge({{0, 'R', 0.9}, {1, 'R', 0.4}}).ranks.empty());
  // On a crowded machine who computes waits for a processor.
  EXPECT_EQ(judge({{0, 'R', 0.05}, {1, 'S', 0}}).ranks, std::vector<int>{1});
  EXPECT_TRUE(judge({{0, 'R', 0.9}, {1, 'R', 0}}).ranks.empty());
  EXPECT_TRUE(judge({}).ranks.empty());
}

TEST(Hang, SaysWhatTheSuspectsDoOrElseAllThatAreLate) {
  const Suspects one = judge({{0, 'R', 0.9, "computes or polls (0.9 cores)"}, {1, 'S', 0, "sleeps"}});
  ASSERT_EQ(one.doing.size(), 1U);
  EXPECT_EQ(one.doing[0].rank, 1);
  EXPECT_EQ(suspicion(one), "rank 1 computes nothing while the others wait; it sleeps");

  const Suspects stopped = judge({{0, 'T', 0, "is stopped by a signal"}, {1, 'R', 1, "computes"}});
  EXPECT_EQ(suspicion(stopped), "rank 0 is stopped by a signal");
  EXPECT_EQ(suspicion(judge({{0, 'T', 0}, {1, 'R', 1}})), "rank 0 is stopped") << "nobody has looked";

  const Suspects nobody = judge({{0, 'R', 0.9, "computes"}, {1, 'R', 0.9, "computes"}});
  EXPECT_TRUE(nobody.ranks.empty());
  EXPECT_EQ(nobody.doing.size(), 2U);
  EXPECT_EQ(suspicion(nobody), "");
  EXPECT_EQ(suspicion(judge({{3, 'S', 0, "sleeps"}})), "rank 3 sleeps");

  EXPECT_EQ(judge(std::vector<Activity>(20, {0, 'R', 1, "computes"})).doing.size(), kMostTold);
}

}  // namespace
}  // namespace trainyard::test
