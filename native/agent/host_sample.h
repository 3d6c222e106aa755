// One line of gpus/<host>.jsonl: what this node is doing now.
#pragma once
#include <cstdint>
#include <string>

#include "agent/gpu.h"
#include "agent/json.h"

namespace trainyard {

class HostSampler {
 public:
  /// `disk_path`: whose file system's free space is told.
  explicit HostSampler(std::string disk_path);

  /// {time, host, cpu_percent, memory_used, memory_total, disk_free, gpus}. cpu_percent is the mean since the last
  /// call.
  Json sample();

 private:
  struct CpuTicks {
    uint64_t busy = 0;
    uint64_t all = 0;
  };
  static CpuTicks read_ticks();
  double cpu_percent();

  std::string disk_path_;
  CpuTicks before_;
  double percent_ = 0;
  GpuSampler gpus_;
};

/// Of /proc/meminfo, bytes.
struct HostMemory {
  uint64_t total = 0;
  uint64_t available = 0;
};
HostMemory host_memory();

}  // namespace trainyard
