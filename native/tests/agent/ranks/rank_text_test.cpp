#include "agent/ranks/rank_text.h"

#include <gtest/gtest.h>

#include <numeric>

namespace trainyard::test {
namespace {

TEST(RankText, NamesRanksAndRanges) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({0, 1}), "ranks 0, 1");
  EXPECT_EQ(ranks_text({0, 1, 2, 5, 7, 8, 10, 11, 12, 13}), "ranks 0-2, 5, 7, 8, 10-13");
  std::vector<int> all(256);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(ranks_text(all), "ranks 0-255");
}

TEST(RankText, NamesEachHostOnceAndCountsMany) {
  EXPECT_EQ(hosts_text({"gpu1", "gpu1", "gpu2", "gpu1"}), "gpu1, gpu2");
  EXPECT_EQ(hosts_text({"a", "b", "c", "d"}), "a, b, c, d");
  EXPECT_EQ(hosts_text({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace trainyard::test
