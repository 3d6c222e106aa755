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

}  // namespace
}  // namespace trainyard::test
