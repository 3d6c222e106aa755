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

namespace {

std::vector<std::string> momentum() { return {".momentum"}; }

void copy_model(Network& from, Network& to) {
  std::ranges::copy(from.weights(), to.weights().begin());
  std::ranges::copy(from.running_statistics(), to.running_statistics().begin());
  to.weights_changed();
}

/// Logits of a model beside those that the reference has for it, of images with so many pixels a
/// side.
bool logits_are_right(const std::string& what, Network& model, Training& judges, int size) {
  Training want({.model = "resnet20", .size = size, .training = false}, reference());
  copy_model(model, want.network());
  const BatchView batch = judges.view();
  std::vector<float> logits(static_cast<size_t>(batch.count) * 10);  // [batch, classes]
  std::vector<float> expected(logits.size());
  judges.network().evaluate(batch, logits);
  want.network().evaluate(batch, expected);
  return report(what, "logits", distance(logits, expected), 2e-4);
}

bool same_model(const std::string& what, Network& got, Network& want) {
  const bool weights = report(what, "weights", distance(got.weights(), want.weights()), 0);
  return report(what, "running statistics", distance(got.running_statistics(), want.running_statistics()), 0) &&
         weights;
}

bool judged_in_place(const std::string& device, Network& six_steps) {
  Training judged({.model = "resnet20"}, open(device));
  DeviceOptimizer& optimizer = judged.on_device({}, momentum());
  take(judged, optimizer, 1, 3);
  Network& network = judged.network();
  // As with the running statistics of another rank.
  const std::vector<float> own = copy(network.running_statistics());
  for (float& value : network.running_statistics()) value *= 1.25F;
  network.weights_changed();
  const bool right = logits_are_right("resnet20, evaluated after three steps", network, judged, 16);
  std::ranges::copy(own, network.running_statistics().begin());
  network.weights_changed();
  take(judged, optimizer, 4, 3);
  return same_model("and three steps more", network, six_steps) && right;
}

/// The second network is made first and ends last, as the trainer has it.
bool judged_beside(const std::string& device, Network& six_steps) {
  constexpr int kSize = 24;
  Training judges({.model = "resnet20", .size = kSize, .training = false}, open(device));
  Training trains({.model = "resnet20"}, open(device));
  DeviceOptimizer& optimizer = trains.on_device({}, momentum());
  take(trains, optimizer, 1, 3);
  copy_model(trains.network(), judges.network());
  const bool right = logits_are_right("a second network, of larger images", trains.network(), judges, kSize);
  take(trains, optimizer, 4, 3);
  return same_model("three steps before that network and three after", trains.network(), six_steps) && right;
}

bool taken_back(const std::string& device, Network& six_steps) {
  Training broken({.model = "resnet20"}, open(device));
  DeviceOptimizer& optimizer = broken.on_device({}, momentum());
  take(broken, optimizer, 1, 3);
  const std::vector<float> before = copy(broken.network().running_statistics());
  optimizer.keep_statistics();
  broken.gradients();
  optimizer.fetch();
  const std::string what = "a fourth step that is broken off";
  const double moved = distance(broken.network().running_statistics(), before);
  bool all = report(what, "that it moved running statistics", moved > 0 ? 0 : 1, 0);
  optimizer.take_statistics_back();
  optimizer.fetch();
  all = report(what, "running statistics", distance(broken.network().running_statistics(), before), 0) && all;
  take(broken, optimizer, 4, 3);
  return same_model("three steps before the broken one and three after", broken.network(), six_steps) && all;
}

}  // namespace

bool evaluation(const std::string& device) {
  Training whole({.model = "resnet20"}, open(device));
  take(whole, whole.on_device({}, momentum()), 1, 6);
  bool all = judged_in_place(device, whole.network());
  all = judged_beside(device, whole.network()) && all;
  return taken_back(device, whole.network()) && all;
}

}  // namespace trainyard::proof
