// A wait for other ranks that ends, whatever they do.
#pragma once
#include <functional>
#include <string>

#include "trainer/base/device_group.h"

namespace trainyard::cuda {

struct WatchedWait {
  std::function<bool()> done;
  std::function<std::string()> failure;  ///< what has gone wrong meanwhile, in words; "" while nothing has
};

/// Returns "" once `done` says so, or why not, as a sentence or two, when there is a failure or the
/// group's deadline is over. The caller then gives up.
std::string wait_or_say_why(const DeviceGroup& group, const WatchedWait& wait);

/// Calls `abort` on a thread of its own, since it may hang as what it is to end did. Where it is
/// not back after group.giving_up_s, says so and `why` on standard error and ends the process with
/// Exit::device.
void give_up(const DeviceGroup& group, const std::string& why, std::function<void()> abort);

}  // namespace trainyard::cuda
