// The collectives of several ranks' GPUs, by NCCL.
#pragma once
#include <functional>
#include <memory>

#include "trainer/base/device_group.h"
#include "trainer/ops/contract/backend.h"
#include "trainer/ops/contract/device_collectives.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

class WatchedCollectives : public DeviceCollectives {
 public:
  /// Waits until `done`, unless the group fails before: then gives it up and fails.
  virtual void watch(const std::function<bool()>& done) = 0;
};

/// What the collectives have of the back end, which outlives them.
struct GroupMember {
  Launcher launcher;  ///< of the ops
  std::function<std::unique_ptr<BackendMemory>(size_t bytes)> allocate;
  /// Gives up what was recorded: NCCL ends a communicator only when no graph with sums of it is
  /// left (commDestroySync of its init.cc).
  std::function<void()> drop_recordings;
};

/// Joins the group on the device that is current. Returns when all of its ranks have, and fails when
/// they do not.
std::unique_ptr<WatchedCollectives> join_nccl(const GroupMember& member, const DeviceGroup& group);

}  // namespace trainyard::cuda
