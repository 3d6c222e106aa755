// What is done before a process ends that a library aborts.
#include "trainer/train/ending/abort_guard.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace trainyard {
namespace {

void say(const char* text) { std::fputs(text, stderr); }

TEST(AbortGuardDeathTest, DoesTheLastThingsWhileWhoAbortsStandsStill) {
  const auto aborted = [] {
    const AbortGuard guard([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      say("the last things\n");
    });
    std::abort();
  };
  EXPECT_EXIT(aborted(), testing::KilledBySignal(SIGABRT), "the last things");
}

TEST(AbortGuardDeathTest, DoesNothingWhereAnotherThreadAborts) {
  const auto aborted = [] {
    const AbortGuard guard([] { say("the last things\n"); });
    std::thread([] {
      say("another thread\n");
      std::abort();
    }).join();
  };
  EXPECT_EXIT(aborted(), testing::KilledBySignal(SIGABRT), "^another thread\n$");
}

TEST(AbortGuardDeathTest, EndsThoughTheLastThingsFail) {
  const auto aborted = [] {
    const AbortGuard guard([] { throw std::runtime_error("no space"); });
    std::abort();
  };
  EXPECT_EXIT(aborted(), testing::KilledBySignal(SIGABRT), "no space");
}

TEST(AbortGuardDeathTest, DoesNothingWhereNobodyAborts) {
  const auto whole = [] {
    {
      const AbortGuard guard([] { say("the last things\n"); });
    }
    say("as usual\n");
    std::exit(0);
  };
  EXPECT_EXIT(whole(), testing::ExitedWithCode(0), "^as usual");
}

TEST(AbortGuards, LeaveSignalsAsTheyWere) {
  std::signal(SIGPIPE, SIG_DFL);
  {
    const AbortGuard guard([] {});
    EXPECT_EQ(std::signal(SIGPIPE, SIG_IGN), SIG_IGN);
  }
  EXPECT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);
}

}  // namespace
}  // namespace trainyard
