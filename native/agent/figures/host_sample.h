// One line of gpus/<host>.jsonl: what this node is doing now.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "agent/figures/figures.h"
#include "agent/messages/json.h"

namespace trainyard {

class HostSampler {
 public:
  /// `disk_path`: whose file system's free space is told.
  explicit HostSampler(std::string disk_path);

  /// Asks for the GPUs' and the disk's figures, which may take their time. Returns when (monotonic
  /// seconds).
  double ask();
  /// Whether what was asked at `asked` is answered, or has been waited for long enough: 2 s, and
  /// `first_patience` seconds for a driver's first answer, which may take a while.
  bool ready(double asked, double first_patience = 2);
  /// {time, host, cpu_percent, memory_used, memory_total, disk_free, gpus, missing}. cpu_percent is
  /// the mean since the last call; disk_free (null before the first answer) and gpus are the newest
  /// answers; `missing`, where there is something in it, lists those that are old because no newer
  /// one came: {what, path, since, reason}.
  Json sample();
  /// Bytes; nothing while the file system gives no answer.
  std::optional<uint64_t> disk_free();

  Figures& figures() { return figures_; }
  int asker() const { return figures_.pid(); }

 private:
  struct CpuTicks {
    uint64_t busy = 0;
    uint64_t all = 0;
  };
  static CpuTicks read_ticks();
  double cpu_percent();

  Question gpus_, disk_;
  CpuTicks before_;
  double percent_ = 0;
  Figures figures_;
};

/// Of /proc/meminfo, bytes.
struct HostMemory {
  uint64_t total = 0;
  uint64_t available = 0;
};
HostMemory host_memory();

}  // namespace trainyard
