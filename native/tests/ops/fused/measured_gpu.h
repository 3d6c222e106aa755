// A GPU that checks our fused kernels and may choose them by time: the CUDA back end on the host, with
// a stand-in for the GPU's clock and memory.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/host/host_cuda.h"
#include "trainer/ops/cuda/fused/fused_kernels.h"
#include "trainer/ops/plans/timed_plans.h"

namespace trainyard::test {

using Spoil = std::function<void(const WrittenProduct&)>;
using SpoilPixels = std::function<void(const WrittenPixels&)>;

/// Stands in for a GPU's clock, and for its memory. Work runs on the host, and takes the time that
/// the test says: the first work that is measured the first time, and so on.
class Clock final : public cuda::FusedBench {
 public:
  struct Script {
    std::vector<double> milliseconds;
    size_t measured = 0;
    bool has_room = true;
  };
  explicit Clock(Script& script) : script_(script) {}

  void* numbers(size_t count, DType dtype) override { return buffer(count * dtype_bytes(dtype)); }
  void* buffer(size_t bytes) override {
    if (!script_.has_room) return nullptr;
    memory_.emplace_back(bytes / sizeof(double) + 1, 1.0);
    return memory_.back().data();
  }
  std::optional<double> milliseconds(const std::function<void()>& run) override {
    run();
    return script_.milliseconds.at(script_.measured++);
  }

 private:
  Script& script_;
  std::vector<std::vector<double>> memory_;
};

/// A device that checks its kernels, and may choose them by time.
struct Gpu {
  std::vector<std::string> said;
  Clock::Script clock;
  std::map<std::string, int> launches{};  ///< of our products, by tiling
  int pixels = 0;                         ///< launches of our products of pixels
  Spoil spoil{};
  SpoilPixels spoil_pixels{};
  std::unique_ptr<TimedPlans> plans{};
  const cuda::Device* device = nullptr;  ///< of the back end that open() made last

  /// folder: where choices are kept, "" for nowhere.
  void choose_by(std::vector<double> milliseconds, const std::string& folder = "") {
    clock.milliseconds = std::move(milliseconds);
    plans = std::make_unique<TimedPlans>("fast", 4, folder, [](const std::string& line) { ADD_FAILURE() << line; });
  }

  std::unique_ptr<Backend> open() {
    HostKernels kernels;
    kernels.spoil = [this](const WrittenProduct& written) {
      ++launches[std::to_string(written.tiling.rows) + "x" + std::to_string(written.tiling.columns)];
      if (spoil) spoil(written);
    };
    kernels.spoil_pixels = [this](const WrittenPixels& written) {
      ++pixels;
      if (spoil_pixels) spoil_pixels(written);
    };
    kernels.fused = [this](const cuda::Device& of_backend, unsigned processors) {
      device = &of_backend;
      return std::make_unique<cuda::FusedKernels>(
          cuda::FusedKernels{of_backend,
                             processors,
                             plans.get(),
                             "A GPU",
                             "cuDNN 9.19.0",
                             "1",
                             [this] { return std::make_unique<Clock>(clock); },
                             {"cuda:0 A GPU", [this](const std::string& line) { said.push_back(line); }}});
    };
    return make_host_cuda_with(std::move(kernels));
  }
};

}  // namespace trainyard::test
