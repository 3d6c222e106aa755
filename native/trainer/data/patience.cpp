#include "trainer/data/patience.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kFirstPause = 0.1;  // seconds
constexpr double kLongestPause = 5;

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

}  // namespace

Patience::Patience(double seconds, std::function<void(const std::string& line)> say)
    : seconds_(seconds), say_(std::move(say)) {}

void Patience::tell(const std::string& line) const {
  if (say_) say_(line);
}

bool Patience::wait(double waited, double pause) {
  if (waited >= seconds_) return false;
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> time(std::min(pause, seconds_ - waited));
  return !ending_.wait_for(lock, time, [this] { return ended_; });
}

std::string Patience::read(const std::function<std::string()>& attempt) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> failed;
  const auto waited = [&] { return std::chrono::duration<double>(Clock::now() - *failed).count(); };
  for (double pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    try {
      std::string bytes = attempt();
      if (failed) tell("what could not be read can be read again, after " + in_seconds(waited()));
      return bytes;
    } catch (const Error& error) {
      if (error.retry() == Retry::pointless) throw;
      if (!failed) {
        failed = Clock::now();
        if (seconds_ > 0) tell(std::string(error.what()) + " (read again for up to " + in_seconds(seconds_) + ")");
      }
      if (wait(waited(), pause)) continue;
      throw Error(error.code(), std::string(error.what()) + ". It was tried for " + in_seconds(waited()),
                  error.retry());
    }
  }
}

void Patience::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
}

}  // namespace trainyard
