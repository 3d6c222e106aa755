// Whole steps with SGD on one batch, which is on the device before they are measured. The clock stops
// when the device has done them: nothing is copied to the host for it.
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "proof/kernel_times.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"
#include "trainer/ops/plans/timed_plans.h"

namespace trainyard::proof {
namespace {

using Clock = std::chrono::system_clock;

struct Measured {
  double images_per_sec = 0;
  double step_ms = 0;
  double first_step_at = 0;  ///< seconds since the epoch
  std::optional<MemoryFigures> memory;
  size_t graphs = 0;  ///< in which a step was recorded
};

/// The first step makes what is made once, the second one is recorded.
int64_t warm_up(const std::string& device) { return device == "cuda" ? 6 : 2; }

/// A training whose steps are as fast as they become.
class WarmTraining {
 public:
  WarmTraining(const std::string& device, const Setup& setup, PlanChooser* plans = nullptr)
      : training_(keeping(setup), open(device, plans)), optimizer_(training_.on_device({}, {".momentum"})) {
    step();
    network().synchronize();
    first_step_at_ = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    network().keep_batch();
    take(warm_up(device) - 1);
  }
  /// Milliseconds of a step.
  double take(int64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < steps; ++i) step();
    network().synchronize();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return took.count() / static_cast<double>(steps);
  }
  Network& network() { return training_.network(); }
  /// Seconds since the epoch.
  double first_step_at() const { return first_step_at_; }

 private:
  static Setup keeping(Setup setup) {
    setup.keeps_batch = true;
    return setup;
  }

  void step() {
    const double loss = training_.gradients();
    if (!std::isfinite(loss)) throw Error(Exit::data, "the loss is no number any more: what is timed is no training");
    if (training_.scale() != 1 && !optimizer_.unscale(training_.scale())) return;  // as a training in fp16 does
    optimizer_.step(0.01F, ++number_);
  }

  Training training_;
  DeviceOptimizer& optimizer_;
  int64_t number_ = 0;
  double first_step_at_ = 0;
};

Measured measure(const std::string& device, const Setup& setup, int64_t steps, PlanChooser* plans = nullptr) {
  WarmTraining run(device, setup, plans);
  Measured result;
  result.step_ms = run.take(steps);
  result.images_per_sec = 1000 * setup.batch / result.step_ms;
  result.first_step_at = run.first_step_at();
  result.memory = run.network().device_memory();
  result.graphs = run.network().recorded_graphs();
  return result;
}

}  // namespace

bool speed(const std::string& device) {
  const bool real = device == "cuda";
  // fp32 last: its plans take the longest to choose.
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32}) {
    if (!real && precision == Precision::tf32) continue;
    Setup setup{.model = "resnet20", .precision = precision};
    if (real) setup = {.model = "resnet50", .size = 224, .batch = 64, .precision = precision};
    const Measured measured = measure(device, setup, real ? 50 : 2);
    const std::string what = setup.model + ", " + std::to_string(setup.size) + " pixels, batch " +
                             std::to_string(setup.batch) + ", " + precision_name(precision);
    figure(what, std::to_string(measured.images_per_sec) + " images/s, a step in " + std::to_string(measured.graphs) +
                     " recorded graphs");
    for (const std::string tune : {"fast", "full"}) {
      // Rehearsed once; `full` times up to 32 plans for each convolution, so in one precision.
      if (precision != Precision::bf16 && (!real || tune == "full")) continue;
      const auto plans = make_timed_plans(tune);
      const Measured tuned = measure(device, setup, real ? 50 : 2, plans.get());
      figure(what + ", --tune " + tune, std::to_string(tuned.images_per_sec) + " images/s; " + plans->summary());
    }
    setup.record_steps = false;
    figure(what + ", op by op", std::to_string(measure(device, setup, real ? 50 : 2).images_per_sec) + " images/s");
    if (const auto& memory = measured.memory) {
      figure(what + ", memory", std::to_string(memory->peak >> 20U) + " MiB at most, " +
                                    std::to_string(memory->free >> 20U) + " MiB free of " +
                                    std::to_string(memory->total >> 20U));
    }
  }
  return true;
}

namespace {

/// A line of the table: of names as long as templates make them the beginning.
void figure_of(size_t place, const DeviceTime& time, double all_ms) {
  constexpr size_t kLongest = 120;
  std::string text = std::to_string(time.milliseconds) + " ms, " +
                     std::to_string(std::lround(100 * time.milliseconds / all_ms)) + " %, " +
                     std::to_string(time.launches) + " launches";
  if (time.bytes > 0 && time.milliseconds > 0) {
    text += ", " + std::to_string(static_cast<double>(time.bytes) / time.milliseconds / 1e6) + " GB/s";
  }
  figure(std::to_string(place) + ". " + time.name.substr(0, kLongest), text);
}

}  // namespace

bool kernels(const std::string& device, const std::vector<std::string>& arguments) {
  Setup setup{.model = "resnet20", .precision = Precision::bf16};
  if (device == "cuda") setup = {.model = "resnet50", .size = 224, .batch = 256, .precision = Precision::bf16};
  if (!arguments.empty()) setup.batch = std::stoi(arguments[0]);
  if (arguments.size() > 1) setup.precision = parse_precision(arguments[1]);
  const auto plans = make_timed_plans(tune_on(arguments.size() > 2 ? arguments[2] : "", device));
  std::optional<KernelTimes> times;
  try {
    times.emplace();
  } catch (const Error& error) {
    not_here(error.what());
    return true;
  }
  WarmTraining run(device, setup, plans.get());
  times->take();
  const double step_ms = run.take(1);
  const std::vector<DeviceTime> all = times->take();
  double device_ms = 0;
  for (const DeviceTime& time : all) device_ms += time.milliseconds;
  figure(setup.model + " in " + precision_name(setup.precision) + ", batch " + std::to_string(setup.batch),
         std::to_string(step_ms) + " ms a step while CUPTI looked on, " + std::to_string(device_ms) +
             " ms of them on the device");
  for (size_t i = 0; i < all.size(); ++i) figure_of(i + 1, all[i], device_ms);
  return report("kernels of a step", "that CUPTI saw any", device == "cpu" || !all.empty() ? 0 : 1, 0);
}

bool bench(const std::string& device, const std::vector<std::string>& arguments) {
  if (arguments.size() != 5 && arguments.size() != 6) {
    throw Error(Exit::usage, "usage: proof bench DEVICE MODEL PIXELS BATCH PRECISION STEPS [none|fast|full]");
  }
  const Setup setup{.model = arguments[0],
                    .size = std::stoi(arguments[1]),
                    .batch = std::stoi(arguments[2]),
                    .classes = 1000,
                    .precision = parse_precision(arguments[3])};
  const auto plans = make_timed_plans(tune_on(arguments.size() == 6 ? arguments[5] : "", device));
  const Measured measured = measure(device, setup, std::stoll(arguments[4]), plans.get());
  if (plans) std::fprintf(stderr, "%s\n", plans->summary().c_str());
  std::printf(
      "{\"images_per_sec\":%.3f,\"step_ms\":%.4f,\"first_step_at\":%.3f,\"images\":\"fixed\",\"recorded_graphs\":%zu}"
      "\n",
      measured.images_per_sec, measured.step_ms, measured.first_step_at, measured.graphs);
  return true;
}

}  // namespace trainyard::proof
