#include "trainer/train/process/memory_usage.h"

#include <fstream>
#include <sstream>
#include <string>

namespace trainyard {

MemoryUsage memory_usage() {
  std::ifstream status("/proc/self/status");
  MemoryUsage usage;
  for (std::string line; std::getline(status, line);) {
    std::istringstream fields(line);
    std::string name;
    uint64_t kibibytes = 0;
    if (!(fields >> name >> kibibytes)) continue;
    if (name == "VmRSS:") usage.used = kibibytes * 1024;
    if (name == "VmHWM:") usage.peak = kibibytes * 1024;
  }
  return usage;
}

}  // namespace trainyard
