// How ranks whose devices are to sum with each other learn of one another.
#pragma once
#include <functional>

#include "trainer/base/device_group.h"
#include "trainer/comm/communicator.h"

namespace trainyard {

/// The group of all these ranks, whose id is rank 0's. Called by all of them; make runs on rank 0
/// alone.
DeviceGroup everyones_group(Communicator& ranks, const std::function<DeviceGroupId()>& make);

}  // namespace trainyard
