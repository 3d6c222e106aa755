// Waits for other ranks end, and the process where even giving up hangs.
#include "trainer/ops/cuda/watched_wait.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/outcome.h"
#include "common/stopwatch.h"

namespace trainyard::cuda {
namespace {

DeviceGroup group() {
  return {.rank = 1, .world = 4, .who = "rank 1 of 4 on node7", .deadline_s = 1.2, .giving_up_s = 0.1};
}

TEST(WatchedWaits, EndWhenDone) {
  int looks = 0;
  EXPECT_EQ(wait_or_say_why(group(), {[&] { return ++looks == 3; }, [] { return std::string("not asked"); }}), "");
  EXPECT_EQ(looks, 3);
}

TEST(WatchedWaits, NameTheRankAndTheDeadline) {
  const Stopwatch clock;
  const std::string why = wait_or_say_why(group(), {[] { return false; }, [] { return std::string(); }});
  EXPECT_GE(clock.milliseconds(), 1200);
  EXPECT_EQ(why.find("rank 1 of 4 on node7 has waited 1 s for a sum over the GPUs. "), 0U) << why;
  EXPECT_NE(why.find("--resume auto"), std::string::npos);
}

TEST(WatchedWaits, EndWithAFailureLongBeforeTheDeadline) {
  const Stopwatch clock;
  const std::string why = wait_or_say_why(group(), {[] { return false; }, [] { return std::string("remote error"); }});
  EXPECT_LT(clock.milliseconds(), 1000);
  EXPECT_EQ(why.find("rank 1 of 4 on node7: the sum over the GPUs failed: remote error. "), 0U) << why;
}

TEST(GivingUp, ComesBackWhenItIsDone) {
  bool aborted = false;
  give_up(group(), "nobody came", [&] { aborted = true; });
  EXPECT_TRUE(aborted);
}

TEST(GivingUpDeathTest, EndsTheProcessWhereItHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(give_up(group(), "nobody came", [] { std::this_thread::sleep_for(std::chrono::hours(1)); }),
              testing::ExitedWithCode(static_cast<int>(Exit::device)),
              "trainer: error: nobody came. Giving up on it hangs too, so rank 1 of 4 on node7 is ended");
}

TEST(GivingUpDeathTest, SaysThatAnotherTryMayHelp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int kOutcomes = 50;
  EXPECT_EXIT(
      {
        ::dup2(STDERR_FILENO, kOutcomes);
        ::setenv(kOutcomeVariable, std::to_string(kOutcomes).c_str(), 1);
        give_up(group(), "nobody came", [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
      },
      testing::ExitedWithCode(static_cast<int>(Exit::device)), R"(\{"exit_code":4,"retryable":true\})");
}

}  // namespace
}  // namespace trainyard::cuda
