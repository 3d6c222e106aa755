// The optimizer and what it remembers, on the device.
#include <algorithm>
#include <cmath>

#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"
#include "trainer/ops/selftest/bench.h"

namespace trainyard::proof {
namespace {

using selftest_detail::distance;

/// Steps [first, first + count), counted from 1, with the gradient cut to length 1.
bool take(Training& training, DeviceOptimizer& optimizer, int64_t first, int64_t count) {
  bool finite = true;
  for (int64_t number = first; number < first + count; ++number) {
    training.network().train_step(training.view(), 1.0F / static_cast<float>(training.view().count), nullptr);
    finite = std::isfinite(optimizer.clip(1.0)) && finite;
    optimizer.step(0.01F, number);
  }
  optimizer.fetch();
  return finite;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

bool optimizers(const std::string& device) {
  bool all = true;
  for (const char* kind : {"sgd", "lars", "adam", "adamw"}) {
    OptimizerOptions options{.kind = kind};
    // What it adds to adam is not to be too small to see.
    if (options.kind == "adamw") options.weight_decay = 0.5;
    Training tested({.model = "resnet20"}, open(device));
    Training want({.model = "resnet20"}, reference());
    const std::vector<float> before = copy(want.network().weights());
    for (Training* one : {&tested, &want}) {
      const bool finite = take(*one, one->on_device(options, {".first", ".second"}), 1, 2);
      all = report(std::string(kind) + ", two steps", "finite", finite ? 0 : 1, 0) && all;
    }
    const double moved = distance(before, want.network().weights());
    all = report(std::string(kind) + ", two steps", "weights, beside how far they moved",
                 distance(tested.network().weights(), want.network().weights()) / moved, 0.02) &&
          all;
  }
  return all;
}

bool averages(const std::string& device) {
  Training training({.model = "resnet20"}, open(device));
  DeviceOptimizer& optimizer = training.on_device({}, {".momentum"});
  Network& network = training.network();
  // Weights and statistics: 0.75 x what the first step made + 0.25 x what the second made.
  std::vector<float> weights, statistics;
  for (const double part : {0.75, 0.25}) {
    take(training, optimizer, part == 0.75 ? 1 : 2, 1);
    optimizer.average(weights.empty() ? 0 : 0.75);
    weights.resize(network.weights().size());
    statistics.resize(network.running_statistics().size());
    const auto add = [part](std::vector<float>& sums, std::span<const float> values) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(sums[i] + part * values[i]);
    };
    add(weights, network.weights());
    add(statistics, network.running_statistics());
  }
  optimizer.fetch_averages();
  const Averages got = optimizer.averages();
  bool all = report("averages of two steps", "weights", distance(got.weights, weights), 1e-6);
  all = report("the same", "running statistics", distance(got.statistics, statistics), 1e-6) && all;
  return report("the same", "that they are no copies", distance(got.weights, network.weights()) > 0 ? 0 : 1, 0) && all;
}

bool resume(const std::string& device) {
  const std::vector<std::string> suffixes = {".momentum"};
  Training whole({.model = "resnet20"}, open(device));
  take(whole, whole.on_device({}, suffixes), 1, 6);
  Training first({.model = "resnet20"}, open(device));
  DeviceOptimizer& stopped = first.on_device({}, suffixes);
  take(first, stopped, 1, 3);
  Training second({.model = "resnet20"}, open(device));
  DeviceOptimizer& resumed = second.on_device({}, suffixes);
  std::ranges::copy(first.network().weights(), second.network().weights().begin());
  std::ranges::copy(first.network().running_statistics(), second.network().running_statistics().begin());
  std::ranges::copy(stopped.state()[0].values, resumed.state()[0].values.begin());
  second.network().weights_changed();
  resumed.state_changed();
  take(second, resumed, 4, 3);
  bool all = report("resnet20, three steps and three after a resume", "weights",
                    distance(second.network().weights(), whole.network().weights()), 0);
  all = report("the same", "running statistics",
               distance(second.network().running_statistics(), whole.network().running_statistics()), 0) &&
        all;
  return report("the same", "that they moved between",
                distance(first.network().weights(), whole.network().weights()) > 0 ? 0 : 1, 0) &&
         all;
}

bool evaluation(const std::string& device) {
  const std::vector<std::string> suffixes = {".momentum"};
  Training whole({.model = "resnet20"}, open(device));
  take(whole, whole.on_device({}, suffixes), 1, 6);
  Training judged({.model = "resnet20"}, open(device));
  DeviceOptimizer& optimizer = judged.on_device({}, suffixes);
  take(judged, optimizer, 1, 3);
  Network& network = judged.network();
  const BatchView batch = judged.view();
  Training want({.model = "resnet20"}, reference());
  std::vector<float> logits(static_cast<size_t>(batch.count) * 10);  // [batch, classes]
  std::vector<float> expected(logits.size());
  // As with the running statistics of another rank.
  const std::vector<float> own = copy(network.running_statistics());
  for (float& value : network.running_statistics()) value *= 1.25F;
  network.weights_changed();
  network.evaluate(batch, logits);
  std::ranges::copy(network.weights(), want.network().weights().begin());
  std::ranges::copy(network.running_statistics(), want.network().running_statistics().begin());
  want.network().weights_changed();
  want.network().evaluate(batch, expected);
  std::ranges::copy(own, network.running_statistics().begin());
  network.weights_changed();
  take(judged, optimizer, 4, 3);
  bool all = report("resnet20, evaluated after three steps", "logits", distance(logits, expected), 2e-4);
  all = report("and three steps more", "weights", distance(network.weights(), whole.network().weights()), 0) && all;
  return report("the same", "running statistics",
                distance(network.running_statistics(), whole.network().running_statistics()), 0) &&
         all;
}

}  // namespace trainyard::proof
