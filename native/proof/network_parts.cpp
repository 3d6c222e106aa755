// Whole networks beside the reference.
#include <cmath>

#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"
#include "trainer/ops/selftest/bench.h"

namespace trainyard::proof {

using selftest_detail::distance;

/// What one rounding becomes grows by about ten a step.
bool networks(const std::string& device) {
  bool all = true;
  for (const std::string model : {"mlp", "resnet20"}) {
    Training tested({.model = model}, open(device));
    Training want({.model = model}, reference());
    double bound = 2e-5;
    for (int step = 1; step <= 3; ++step, bound *= 10) {
      const double loss = tested.step();
      const double expected = want.step();
      const std::string name = model + ", step " + std::to_string(step);
      all = report(name, "loss", std::abs(loss - expected) / expected, bound) && all;
      all = report(name, "gradients", distance(tested.network().gradients(), want.network().gradients()), bound) && all;
      all = report(name, "weights", distance(tested.network().weights(), want.network().weights()), bound) && all;
    }
  }
  return all;
}

namespace {

/// A rounding of a factor is 2^-12 in TF32 and fp16, 2^-9 in bf16, and makes some ReLU pass another
/// element, whose gradient then errs whole.
bool precision_beside_fp32(const std::string& device, Setup setup) {
  const std::string name = setup.model + " in " + precision_name(setup.precision);
  Training tested(setup, open(device));
  const double narrow = setup.precision == Precision::bf16 ? 0.3 : 0.12;
  const double bound = setup.model == "resnet20" ? narrow : 2 * narrow;  // more channels, more such ReLUs
  setup.precision = Precision::fp32;
  Training want(setup, reference());
  const double loss = tested.step();
  const double expected = want.step();
  bool all = report(name, "loss", std::abs(loss - expected) / expected, bound / 10);
  std::vector<float> gradients(tested.network().gradients().begin(), tested.network().gradients().end());
  for (float& gradient : gradients) gradient /= tested.scale();
  all = report(name, "gradients", distance(gradients, want.network().gradients()), bound) && all;
  double last = loss;
  for (int step = 0; step < 5; ++step) last = tested.step();
  return report(name, "loss after six steps beside the first", last / loss, 1) && all;
}

}  // namespace

bool precisions(const std::string& device) {
  bool all = true;
  for (const Precision precision : {Precision::tf32, Precision::bf16, Precision::fp16}) {
    if (device == "cpu" && precision == Precision::tf32) {
      figure("tf32", "not rehearsed: it is the device's");
      continue;
    }
    all = precision_beside_fp32(device, {.model = "resnet20", .precision = precision}) && all;
    // Whose first convolution goes by space to depth.
    Setup stem{.model = "resnet18", .size = 64, .precision = precision};
    if (device == "cpu") stem.size = 32;
    all = precision_beside_fp32(device, stem) && all;
  }
  return all;
}

namespace {

bool repeats_in(const std::string& device, const Setup& setup) {
  Setup keeping = setup;
  keeping.keeps_batch = true;
  Training first(setup, open(device));
  Training second(setup, open(device));
  Training kept(keeping, open(device));
  double loss = 0;
  for (int step = 0; step < 5; ++step) {
    loss = first.step();
    second.step();
    kept.step();
    kept.network().keep_batch();
  }
  const std::string name = setup.model + " in " + precision_name(setup.precision);
  figure("loss after five steps of " + name, std::to_string(loss));
  const bool same = report(name + ", five steps twice", "weights",
                           distance(first.network().weights(), second.network().weights()), 0);
  return report(name + ", five steps on images that were brought once", "weights",
                distance(first.network().weights(), kept.network().weights()), 0) &&
         same;
}

}  // namespace

bool repeats(const std::string& device) {
  bool all = repeats_in(device, {.model = "resnet20"});
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    if (device == "cpu" && precision == Precision::fp16) continue;  // it is the device's
    // Its first convolution goes by space to depth, and does not keep the image.
    all = repeats_in(device, {.model = "resnet18", .size = device == "cpu" ? 32 : 64, .precision = precision}) && all;
  }
  return all;
}

namespace {

/// Four steps by recorded graphs, their images brought ahead, beside op by op. mixed: the images
/// are mixtures, with another share in each step.
bool recorded_as_op_by_op(const std::string& device, Setup setup, bool mixed) {
  Training recorded(setup, open(device));
  setup.record_steps = false;
  Training ops(setup, open(device));
  const std::string name =
      setup.model + " in " + precision_name(setup.precision) + ", four steps" + (mixed ? " on mixtures" : "");
  bool all = true;
  for (int step = 1; step <= 4; ++step) {
    for (Training* one : {&recorded, &ops}) {
      if (mixed) one->mix(0.9F - 0.1F * static_cast<float>(step));
    }
    const double loss = recorded.gradients_ahead();
    const double expected = ops.gradients();
    all = report(name, "loss of step " + std::to_string(step), std::abs(loss - expected), 0) && all;
    recorded.descend();
    ops.descend();
  }
  all = report(name, "weights", distance(recorded.network().weights(), ops.network().weights()), 0) && all;
  const size_t count = recorded.network().recorded_graphs();
  figure(name, std::to_string(count) + " recorded graphs a step");
  return report(name, "that they were recorded", count > 1 ? 0 : 1, 0) && all;
}

}  // namespace

/// resnet18 has weights enough for several parts of the backward pass; inception_v3, too slow for
/// the rehearsal, has other kinds of convolutions, dropout and a second loss. The loss, which alone
/// sees mixtures, is fp32 in every precision.
bool recorded(const std::string& device) {
  const Setup rehearsed{.model = "resnet18", .batch = 2};
  const Setup two_losses{.model = "inception_v3", .size = 299, .precision = Precision::bf16};
  if (device == "cpu") {
    const bool plain = recorded_as_op_by_op(device, rehearsed, false);
    return recorded_as_op_by_op(device, {.model = "resnet20"}, true) && plain;
  }
  bool all = true;
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
    all = recorded_as_op_by_op(device, {.model = "resnet18", .precision = precision}, false) && all;
    all = recorded_as_op_by_op(device, {.model = "inception_v3", .size = 299, .precision = precision}, false) && all;
  }
  all = recorded_as_op_by_op(device, {.model = "resnet18"}, true) && all;
  return recorded_as_op_by_op(device, two_losses, true) && all;
}

}  // namespace trainyard::proof
