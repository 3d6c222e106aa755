#include "trainer/ops/cuda/library/fused_bench.h"

#include <utility>
#include <vector>

#include "trainer/ops/cuda/library/device_time.h"

namespace trainyard::cuda {

namespace {

class DeviceBench final : public FusedBench {
 public:
  explicit DeviceBench(const Launcher& launcher) : launcher_(launcher) {}

  void* numbers(size_t count, DType dtype) override { return keep(random_numbers(launcher_, count, dtype)); }
  void* buffer(size_t bytes) override { return keep(device_bytes(bytes)); }
  std::optional<double> milliseconds(const std::function<void()>& run) override {
    return device_milliseconds(launcher_, [&run] {
      run();
      return true;
    });
  }

 private:
  void* keep(DeviceBytes memory) {
    memory_.push_back(std::move(memory));
    return memory_.back().get();
  }

  const Launcher& launcher_;
  std::vector<DeviceBytes> memory_;
};

}  // namespace

std::unique_ptr<FusedBench> make_fused_bench(const Launcher& launcher) {
  return std::make_unique<DeviceBench>(launcher);
}

}  // namespace trainyard::cuda
