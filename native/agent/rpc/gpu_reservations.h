// Locks of GPUs that this connection holds for a start that is under way.
#pragma once
#include <map>
#include <string>

#include "agent/gpus/gpu_locks.h"

namespace trainyard {

class GpuReservations {
 public:
  /// The name of these locks.
  std::string keep(GpuLocks locks);
  /// None for an empty name. Throws RpcError (bad state) for a name that is not here.
  GpuLocks pass_on(const std::string& name);
  void give_back(const std::string& name) { kept_.erase(name); }

 private:
  std::map<std::string, GpuLocks> kept_;
};

}  // namespace trainyard
