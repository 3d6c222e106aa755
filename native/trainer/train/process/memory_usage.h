// Memory of this process as the kernel counts it.
#pragma once
#include <cstdint>

namespace trainyard {

struct MemoryUsage {
  uint64_t used = 0;  ///< resident now, bytes
  uint64_t peak = 0;  ///< most ever resident, bytes
};

/// From /proc/self/status (VmRSS, VmHWM); zeros where that cannot be read.
MemoryUsage memory_usage();

}  // namespace trainyard
