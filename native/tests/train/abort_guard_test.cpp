// What is done before a process ends that a library aborts.
#include "trainer/train/ending/abort_guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

/// Writes through a null pointer, here in the program itself.
void fault() {
  int* volatile nowhere = nullptr;
  *nowhere = 1;
}

/// How the program names itself among its libraries: not at all.
const std::vector<std::string> kOwnCode{""};

TEST(AbortGuardDeathTest, DoesTheLastThingsWhereALibraryFaults) {
  const auto faulted = [] {
    const AbortGuard guard([] { say("the last things\n"); }, kOwnCode);
    fault();
  };
  EXPECT_EXIT(faulted(), testing::KilledBySignal(SIGABRT), "by signal 11\nthe last things");
}

TEST(AbortGuardDeathTest, DoesNothingWhereOtherCodeFaults) {
  const auto faulted = [] {
    const AbortGuard guard([] { say("the last things\n"); });
    say("a fault\n");
    fault();
  };
  EXPECT_EXIT(faulted(), testing::KilledBySignal(SIGSEGV), "^a fault\n$");
}

TEST(AbortGuardDeathTest, DoesNothingWhereAnotherThreadFaults) {
  const auto faulted = [] {
    const AbortGuard guard([] { say("the last things\n"); }, kOwnCode);
    say("a fault\n");
    std::thread(fault).join();
  };
  EXPECT_EXIT(faulted(), testing::KilledBySignal(SIGSEGV), "^a fault\n$");
}

TEST(AbortGuardDeathTest, ObeysAFaultThatWasSent) {
  const auto sent = [] {
    const AbortGuard guard([] { say("the last things\n"); }, kOwnCode);
    say("a signal\n");
    ::kill(::getpid(), SIGSEGV);
    std::this_thread::sleep_for(std::chrono::seconds(5));
  };
  EXPECT_EXIT(sent(), testing::KilledBySignal(SIGSEGV), "^a signal\n$");
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
