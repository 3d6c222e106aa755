// Time that has passed.
#pragma once
#include <chrono>

namespace trainyard {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double milliseconds() const { return 1000.0 * seconds(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace trainyard
