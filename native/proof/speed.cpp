// Whole steps with SGD on the device and synthetic images that stay where they are, without any
// tuning.
#include <chrono>

#include "common/error.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"

namespace trainyard::proof {
namespace {

using Clock = std::chrono::system_clock;

struct Measured {
  double images_per_sec = 0;
  double step_ms = 0;
  double first_step_at = 0;  ///< seconds since the epoch
  std::optional<MemoryFigures> memory;
  size_t pieces = 0;  ///< in which a step was recorded
};

Measured measure(const std::string& device, const Setup& setup, int64_t steps) {
  Training run(setup, open(device));
  DeviceOptimizer& optimizer = run.on_device({}, {".momentum"});
  const auto step = [&](int64_t number) {
    run.gradients_ahead();
    if (run.scale() != 1) optimizer.unscale(run.scale());
    optimizer.step(0.01F, number);
  };
  Measured result;
  int64_t number = 1;
  for (; number <= 3; ++number) {
    step(number);
    if (number > 1) continue;
    optimizer.fetch();
    result.first_step_at = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  }
  optimizer.fetch();
  const auto start = std::chrono::steady_clock::now();
  for (; number <= 3 + steps; ++number) step(number);
  optimizer.fetch();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.images_per_sec = static_cast<double>(setup.batch) * static_cast<double>(steps) / seconds;
  result.step_ms = 1000 * seconds / static_cast<double>(steps);
  result.memory = run.network().device_memory();
  result.pieces = run.network().recorded_pieces();
  return result;
}

}  // namespace

bool speed(const std::string& device) {
  const bool real = device == "cuda";
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
    if (!real && precision == Precision::tf32) continue;
    Setup setup{.model = "resnet20", .precision = precision};
    if (real) setup = {.model = "resnet50", .size = 224, .batch = 64, .precision = precision};
    const Measured measured = measure(device, setup, real ? 20 : 2);
    const std::string what = setup.model + ", " + std::to_string(setup.size) + " pixels, batch " +
                             std::to_string(setup.batch) + ", " + precision_name(precision);
    figure(what, std::to_string(measured.images_per_sec) + " images/s, a step in " + std::to_string(measured.pieces) +
                     " recorded pieces");
    setup.record_steps = false;
    figure(what + ", op by op", std::to_string(measure(device, setup, real ? 20 : 2).images_per_sec) + " images/s");
    if (const auto& memory = measured.memory) {
      figure(what + ", memory", std::to_string(memory->peak >> 20U) + " MiB at most, " +
                                    std::to_string(memory->free >> 20U) + " MiB free of " +
                                    std::to_string(memory->total >> 20U));
    }
  }
  return true;
}

bool bench(const std::string& device, const std::vector<std::string>& arguments) {
  if (arguments.size() != 5) throw Error(Exit::usage, "usage: proof bench DEVICE MODEL PIXELS BATCH PRECISION STEPS");
  const Setup setup{.model = arguments[0],
                    .size = std::stoi(arguments[1]),
                    .batch = std::stoi(arguments[2]),
                    .classes = 1000,
                    .precision = parse_precision(arguments[3])};
  const Measured measured = measure(device, setup, std::stoll(arguments[4]));
  std::printf("{\"images_per_sec\":%.3f,\"step_ms\":%.4f,\"first_step_at\":%.3f}\n", measured.images_per_sec,
              measured.step_ms, measured.first_step_at);
  return true;
}

}  // namespace trainyard::proof
