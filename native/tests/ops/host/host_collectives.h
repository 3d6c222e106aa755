// Collectives of the host's CUDA arithmetic, between processes or threads of one machine, over a
// mapped file: what is under way belongs to the group (it is not a number until it has been waited
// for), and what is summed is what was there when the sum was started, as on a stream that waits
// for the ops before it and no others.
#pragma once
#include <memory>

#include "tests/ops/host/host_cuda.h"
#include "trainer/base/device_group.h"
#include "trainer/ops/contract/device_collectives.h"

namespace trainyard::test {

/// Makes the file; it is gone once all ranks have joined.
DeviceGroupId new_host_group();
std::unique_ptr<DeviceCollectives> join_host_group(const DeviceGroup& group, const HostMember& member);

}  // namespace trainyard::test
