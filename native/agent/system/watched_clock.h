// Time as a process sees it that looks some times a second.
#pragma once
#include <algorithm>

namespace trainyard {

/// Begins at 0 with the first look. A gap between two looks counts for 5 s at most: the machine, or
/// this process with those that it watches, was frozen, and nobody could have seen anything.
class WatchedClock {
 public:
  /// `now`: monotonic seconds. Returns seconds().
  double look(double now) {
    if (last_ >= 0) seconds_ += std::clamp(now - last_, 0.0, kMostBetweenLooks);
    last_ = now;
    return seconds_;
  }
  double seconds() const { return seconds_; }
  bool has_looked() const { return last_ >= 0; }

 private:
  static constexpr double kMostBetweenLooks = 5;
  double seconds_ = 0;
  double last_ = -1;  ///< monotonic seconds; -1 before the first look
};

}  // namespace trainyard
