// What scripts/gpu_proof.py runs on a machine with a GPU: proof PART DEVICE, DEVICE cuda or cpu (a rehearsal with the
// reference in the device's place). Results are lines of fields between tabs; the last field of a result is ok or
// wrong.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/base/random.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/ops/selftest/selftest.h"

extern "C" trainyard::Backend* trainyard_reference();

namespace trainyard {
namespace {

std::unique_ptr<Backend> reference() { return std::unique_ptr<Backend>(trainyard_reference()); }
std::unique_ptr<Backend> open(const std::string& device) {
  return device == "cuda" ? open_cuda_backend(0) : reference();
}

bool report(const std::string& what, const std::string& quantity, double error, double bound) {
  const bool ok = error <= bound;  // false for NaN
  std::printf("result\t%s\t%s\t%.3g\t%.3g\t%s\n", what.c_str(), quantity.c_str(), error, bound, ok ? "ok" : "wrong");
  return ok;
}

void figure(const std::string& what, const std::string& text) {
  std::printf("figure\t%s\t%s\n", what.c_str(), text.c_str());
}

bool devices(const std::string& device) {
  if (device == "cpu") {
    figure("device", reference()->name());
    return true;
  }
  const auto library = load_cuda_library();
  figure("libraries", library->versions());
  for (const CudaDevice& found : library->devices()) {
    figure("device", found.name + ", capability " + std::to_string(found.capability_major) + "." +
                         std::to_string(found.capability_minor) + ", " + std::to_string(found.memory_total >> 20U) +
                         " MiB, " + (found.usable ? "usable" : "no code for it"));
  }
  require_cuda_device(*library, 0);
  return true;
}

bool ops(const std::string& device) {
  const auto tested = open(device);
  bool all = true;
  for (const SelftestRow& row : selftest(*tested, *reference())) {
    all = report(row.op, row.quantity, row.error, row.bound) && all;
  }
  return all;
}

struct Training {
  Training(const std::string& model, std::unique_ptr<Backend> backend, int size, int batch_, int classes,
           Precision precision = Precision::fp32)
      : scale(precision == Precision::fp16 ? 1024 : 1),
        batch(batch_),
        images(static_cast<size_t>(batch) * size * size * 3) {
    NetworkOptions options;
    options.model = model;
    options.classes = classes;
    options.image_size = size;
    options.batch = batch;
    options.precision = precision;
    prepare_backend(*backend, precision);
    auto graph = std::make_unique<Graph>();
    if (model == "mlp") {
      build_mlp(*graph, size, classes);
    } else if (model == "resnet20") {
      build_cifar_resnet(*graph, 3, size, classes);
    } else if (model == "resnet50") {
      build_resnet(*graph, Block::bottleneck, {3, 4, 6, 3}, size, classes);
    } else {
      build_resnet(*graph, Block::basic, {2, 2, 2, 2}, size, classes);
    }
    network = std::make_unique<GraphNetwork>(options, std::move(graph), std::move(backend));
    Random random{77};
    for (uint8_t& byte : images) byte = static_cast<uint8_t>(random.below(256));
    for (int i = 0; i < batch; ++i) labels.push_back(static_cast<int32_t>(random.below(classes)));
    view = {batch, size, images.data(), labels.data()};
  }

  double step() {
    const double loss =
        network->train_step(view, scale / static_cast<float>(batch), [](size_t, size_t) {}).loss_sum / batch;
    const auto weights = network->weights();
    const auto gradients = network->gradients();
    for (size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.02F / scale * gradients[i];
    network->weights_changed();
    return loss;
  }

  float scale;  ///< of the loss, so that fp16 keeps small gradients
  int batch;
  std::vector<uint8_t> images;
  std::vector<int32_t> labels;
  BatchView view;
  std::unique_ptr<Network> network;
};

double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double length = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    length += std::pow(double{b[i]}, 2);
  }
  return difference == 0 ? 0 : std::sqrt(difference / length);
}

/// Whole networks beside the reference: what one rounding becomes grows by about ten a step.
bool networks(const std::string& device) {
  bool all = true;
  for (const std::string model : {"mlp", "resnet20"}) {
    Training tested(model, open(device), 16, 8, 10);
    Training want(model, reference(), 16, 8, 10);
    double bound = 2e-5;
    for (int step = 1; step <= 3; ++step, bound *= 10) {
      const double loss = tested.step();
      const double expected = want.step();
      const std::string name = model + ", step " + std::to_string(step);
      all = report(name, "loss", std::abs(loss - expected) / expected, bound) && all;
      all = report(name, "gradients", distance(tested.network->gradients(), want.network->gradients()), bound) && all;
      all = report(name, "weights", distance(tested.network->weights(), want.network->weights()), bound) && all;
    }
  }
  return all;
}

/// One step of resnet20 in each precision beside fp32; a rounding of a factor is 2^-12 in TF32 and fp16, 2^-9 in bf16,
/// and makes some ReLU pass another element, whose gradient then errs whole.
bool precisions(const std::string& device) {
  bool all = true;
  for (const Precision precision : {Precision::tf32, Precision::bf16, Precision::fp16}) {
    const std::string name = std::string("resnet20 in ") + precision_name(precision);
    if (device == "cpu" && precision == Precision::tf32) {
      figure(name, "not rehearsed: it is the device's");
      continue;
    }
    Training tested("resnet20", open(device), 16, 8, 10, precision);
    Training want("resnet20", reference(), 16, 8, 10);
    const double bound = precision == Precision::bf16 ? 0.3 : 0.12;
    const double loss = tested.step();
    const double expected = want.step();
    all = report(name, "loss", std::abs(loss - expected) / expected, bound / 10) && all;
    std::vector<float> gradients(tested.network->gradients().begin(), tested.network->gradients().end());
    for (float& gradient : gradients) gradient /= tested.scale;
    all = report(name, "gradients", distance(gradients, want.network->gradients()), bound) && all;
    double last = loss;
    for (int step = 0; step < 5; ++step) last = tested.step();
    all = report(name, "loss after six steps beside the first", last / loss, 1) && all;
  }
  return all;
}

/// The optimizer and all else on the device: what a rank that trains alone does.
bool on_device(const std::string& device) {
  bool all = true;
  for (const char* kind : {"sgd", "lars", "adam"}) {
    const OptimizerOptions options{.kind = kind};
    Training tested("resnet20", open(device), 16, 8, 10);
    Training want("resnet20", reference(), 16, 8, 10);
    const std::vector<float> before(want.network->weights().begin(), want.network->weights().end());
    for (Training* one : {&tested, &want}) {
      std::vector<ParameterRange> ranges;
      for (const TensorInfo& tensor : one->network->parameters()) {
        ranges.push_back({.offset = tensor.offset, .size = tensor.size, .decay = tensor.decay, .adapt = tensor.decay});
      }
      DeviceOptimizer* optimizer = one->network->train_on_device(options, ranges, {".first", ".second"});
      if (optimizer == nullptr) return report(kind, "is on the device", 1, 0);
      for (int64_t number = 1; number <= 2; ++number) {
        one->network->train_step(one->view, 1.0F / static_cast<float>(one->batch), nullptr);
        all = report(std::string(kind) + ", step " + std::to_string(number), "finite",
                     std::isfinite(optimizer->clip(1.0)) ? 0 : 1, 0) &&
              all;
        optimizer->step(0.01F, number);
      }
      optimizer->fetch();
    }
    const double moved = distance(before, want.network->weights());
    all = report(std::string(kind) + ", two steps", "weights, beside how far they moved",
                 distance(tested.network->weights(), want.network->weights()) / moved, 0.02) &&
          all;
  }
  return all;
}

/// The plan's answer to a batch that is too large, and that the batch it names is one that fits.
bool batch_that_fits(const std::string& device) {
  if (device == "cpu") {
    figure("batch that fits", "not rehearsed: it is the device's memory");
    return true;
  }
  try {
    const Training large("resnet50", open(device), 224, 1 << 13U, 10);
  } catch (const Error& error) {
    figure("message", error.what());
    const std::string text = error.what();
    const std::string before = "Use --batch-size ";
    const size_t found = text.find(before);
    if (found == std::string::npos) return false;
    Training fits("resnet50", open(device), 224, std::stoi(text.substr(found + before.size())), 10);
    fits.network->train_step(fits.view, 1.0F / static_cast<float>(fits.batch), nullptr);
    return true;
  }
  figure("message", "a batch of 8192 fits this GPU");
  return true;
}

bool repeats(const std::string& device) {
  Training first("resnet20", open(device), 16, 8, 10);
  Training second("resnet20", open(device), 16, 8, 10);
  double loss = 0;
  for (int step = 0; step < 5; ++step) {
    loss = first.step();
    second.step();
  }
  figure("loss after five steps", std::to_string(loss));
  return report("resnet20, five steps twice", "weights", distance(first.network->weights(), second.network->weights()),
                0);
}

bool out_of_memory(const std::string& device) {
  if (device == "cpu") {
    figure("out of memory", "not rehearsed: it is the device's message");
    return true;
  }
  try {
    open(device)->allocate(size_t{1} << 44U);
  } catch (const Error& error) {
    figure("message", error.what());
    const std::string text = error.what();
    return text.find("16777216 MiB asked for") != std::string::npos && text.find("free of") != std::string::npos;
  }
  return false;
}

/// Whole steps with SGD on the device, synthetic images, without any tuning.
void measure(const std::string& device, Precision precision) {
  const bool real = device == "cuda";
  Training run(real ? "resnet50" : "resnet20", open(device), real ? 224 : 16, real ? 64 : 8, 10, precision);
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& tensor : run.network->parameters()) {
    ranges.push_back({.offset = tensor.offset, .size = tensor.size, .decay = tensor.decay, .adapt = tensor.decay});
  }
  DeviceOptimizer* optimizer = run.network->train_on_device({}, ranges, {".momentum"});
  const auto step = [&](int64_t number) {
    run.network->train_step(run.view, run.scale / static_cast<float>(run.batch), nullptr);
    if (run.scale != 1) optimizer->unscale(run.scale);
    optimizer->step(0.01F, number);
  };
  int64_t number = 1;
  for (; number <= 3; ++number) step(number);
  optimizer->fetch();
  const int64_t steps = real ? 20 : 2;
  const auto start = std::chrono::steady_clock::now();
  for (; number <= 3 + steps; ++number) step(number);
  optimizer->fetch();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string what =
      std::string(real ? "resnet50, 224 pixels, batch 64, " : "rehearsal, ") + precision_name(precision);
  figure(what, std::to_string(static_cast<double>(run.batch) * static_cast<double>(steps) / seconds) + " images/s");
  if (const auto memory = run.network->device_memory()) {
    figure(what + ", memory", std::to_string(memory->peak >> 20U) + " MiB at most, " +
                                  std::to_string(memory->free >> 20U) + " MiB free of " +
                                  std::to_string(memory->total >> 20U));
  }
}

bool speed(const std::string& device) {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
    if (device == "cpu" && precision == Precision::tf32) continue;
    measure(device, precision);
  }
  return true;
}

int run(const std::string& part, const std::string& device) {
  const std::map<std::string, bool (*)(const std::string&)> parts = {{"devices", devices},
                                                                     {"ops", ops},
                                                                     {"networks", networks},
                                                                     {"precisions", precisions},
                                                                     {"optimizers", on_device},
                                                                     {"repeats", repeats},
                                                                     {"speed", speed},
                                                                     {"out-of-memory", out_of_memory},
                                                                     {"batch-that-fits", batch_that_fits}};
  const auto found = parts.find(part);
  if (found == parts.end()) throw Error(Exit::usage, "no part " + part);
  return found->second(device) ? 0 : 1;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw trainyard::Error(trainyard::Exit::usage, "usage: proof PART cuda|cpu");
    return trainyard::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::printf("error\t%s\n", error.what());
    return 1;
  }
}
