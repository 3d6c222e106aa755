// What a device that records does, on the host: kernels are kept with their arguments as they were,
// and run later.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "trainer/ops/cuda/launch.h"

namespace trainyard::test {

class Tape {
 public:
  /// The stream of a launcher whose kernels go here.
  CUstream_st* stream() { return reinterpret_cast<CUstream_st*>(this); }
  /// nullptr: kernels run at once.
  static Tape* of(const cuda::Launcher& launcher) { return reinterpret_cast<Tape*>(launcher.stream); }

  /// Now, or while it records not yet.
  void run(std::function<void()> op) { recording_ ? ops_.push_back(std::move(op)) : op(); }
  bool recording() const { return recording_; }
  void begin() { recording_ = true; }
  std::vector<std::function<void()>> end() {
    recording_ = false;
    return std::exchange(ops_, {});
  }

 private:
  bool recording_ = false;
  std::vector<std::function<void()>> ops_;
};

}  // namespace trainyard::test
