// How full a device is.
#pragma once
#include <cstdint>

namespace trainyard {

/// Bytes.
struct MemoryFigures {
  uint64_t used = 0;   ///< by this back end, now
  uint64_t peak = 0;   ///< by this back end, at most
  uint64_t free = 0;   ///< on the device, whoever uses the rest
  uint64_t total = 0;  ///< of the device
};

}  // namespace trainyard
