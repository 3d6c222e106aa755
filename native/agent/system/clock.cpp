#include "agent/system/clock.h"

#include <time.h>

#include <cerrno>

namespace trainyard {

void sleep_ms(int milliseconds) {
  timespec left{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

double monotonic_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace trainyard
