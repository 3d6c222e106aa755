// What the GPU spends its time on, as CUPTI's activity records say it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainyard::proof {

/// All runs of one kernel, or all copies or memsets of one kind.
struct DeviceTime {
  std::string name;
  int64_t launches = 0;
  double milliseconds = 0;  ///< on the device
  uint64_t bytes = 0;       ///< of copies and memsets; 0 for kernels, whose bytes no record has
};

/// Collects as long as it lives. One at a time, made before the first call of CUDA. libcupti.so.13
/// is looked for in TRAINYARD_NVIDIA_LIBRARIES, then where the system looks.
class KernelTimes {
 public:
  /// Throws Error(Exit::device): CUPTI is not there, or refuses.
  KernelTimes();
  ~KernelTimes();
  KernelTimes(const KernelTimes&) = delete;
  KernelTimes& operator=(const KernelTimes&) = delete;
  /// Of what the device has done since the last call, the longest first. The device must be done.
  std::vector<DeviceTime> take();

 private:
  class Collector;
  std::unique_ptr<Collector> collector_;
};

}  // namespace trainyard::proof
