#include "trainer/ops/cuda/watched_wait.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/outcome.h"

namespace trainyard::cuda {

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Steps take milliseconds, so the first looks follow each other at once.
constexpr auto kEager = std::chrono::milliseconds(20);
constexpr auto kPause = std::chrono::microseconds(200);

constexpr const char* kAdvice =
    "Another rank has ended or stands still: look at the other ranks' logs, and start again with --resume auto";

}  // namespace

std::string wait_or_say_why(const DeviceGroup& group, const WatchedWait& wait) {
  const auto start = Clock::now();
  const auto end = in(group.deadline_s);
  while (!wait.done()) {
    const auto now = Clock::now();
    if (now - start < kEager) {
      std::this_thread::yield();
      continue;
    }
    if (const std::string failure = wait.failure(); !failure.empty()) {
      return group.who + ": the sum over the GPUs failed: " + failure + ". " + kAdvice;
    }
    if (now >= end) {
      return group.who + " has waited " + std::to_string(static_cast<long>(group.deadline_s)) +
             " s for a sum over the GPUs. " + kAdvice;
    }
    std::this_thread::sleep_for(kPause);
  }
  return "";
}

void give_up(const DeviceGroup& group, const std::string& why, std::function<void()> abort) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread([done, abort = std::move(abort)] {
    abort();
    *done = true;
  }).detach();
  for (const auto end = in(group.giving_up_s); !*done; std::this_thread::sleep_for(kPause)) {
    if (Clock::now() < end) continue;
    std::fprintf(stderr, "trainer: error: %s. Giving up on it hangs too, so %s is ended\n", why.c_str(),
                 group.who.c_str());
    std::fflush(stderr);
    tell_outcome(Exit::device, Retry::worthwhile);
    // Destructors would wait for the device.
    ::_exit(static_cast<int>(Exit::device));
  }
}

}  // namespace trainyard::cuda
