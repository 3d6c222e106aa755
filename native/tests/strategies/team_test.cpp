// Who trains and who serves.
#include "trainer/strategies/team.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace trainyard {
namespace {

using Flags = std::vector<bool>;

TEST(Servers, AreTheLastRanksOfEachHostInTurn) {
  EXPECT_EQ(server_ranks({"a", "a", "a", "a"}, 2), (Flags{false, false, true, true}));
  EXPECT_EQ(server_ranks({"a", "a", "b", "b"}, 2), (Flags{false, true, false, true}));
  EXPECT_EQ(server_ranks({"a", "a", "b", "b"}, 1), (Flags{false, true, false, false}));
  EXPECT_EQ(server_ranks({"a", "b", "b", "b"}, 2), (Flags{false, false, true, true}));  // rank 0 always trains
  EXPECT_EQ(server_ranks({"a", "b", "c"}, 2), (Flags{false, true, true}));
}

TEST(Servers, LeaveSomeoneToTrain) {
  EXPECT_THROW(server_ranks({"a", "a"}, 2), Error);
  EXPECT_EQ(server_ranks({"a", "a", "a"}, 2), (Flags{false, true, true}));
  const auto alone = make_single();
  try {
    const Team team({.kind = "parameter-server"}, *alone);
    FAIL() << "one rank cannot both train and serve";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
  }
}

TEST(Teams, OfOneRankMirror) {
  const auto alone = make_single();
  const Team team({}, *alone);
  EXPECT_EQ(team.strategy(), "mirrored");
  EXPECT_EQ(team.all_reduce(), "library");
  EXPECT_EQ(team.workers(), std::vector<int>{0});
  EXPECT_TRUE(team.servers().empty());
  EXPECT_FALSE(team.serves());
}

}  // namespace
}  // namespace trainyard
