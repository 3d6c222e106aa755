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
  Training(const std::string& model, std::unique_ptr<Backend> backend, int size, int batch_, int classes)
      : batch(batch_), images(static_cast<size_t>(batch) * size * size * 3) {
    NetworkOptions options;
    options.model = model;
    options.classes = classes;
    options.image_size = size;
    options.batch = batch;
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
        network->train_step(view, 1.0F / static_cast<float>(batch), [](size_t, size_t) {}).loss_sum / batch;
    const auto weights = network->weights();
    const auto gradients = network->gradients();
    for (size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.02F * gradients[i];
    network->weights_changed();
    return loss;
  }

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

/// Synthetic images, the whole step but the optimizer; fp32 without TF32 and without any tuning.
bool speed(const std::string& device) {
  const bool real = device == "cuda";
  Training run(real ? "resnet18" : "resnet20", open(device), real ? 224 : 16, real ? 64 : 8, 10);
  for (int step = 0; step < 3; ++step) run.network->train_step(run.view, 1.0F / 64, [](size_t, size_t) {});
  const int steps = real ? 20 : 2;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) run.network->train_step(run.view, 1.0F / 64, [](size_t, size_t) {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  figure(real ? "resnet18, 224 pixels, batch 64, fp32" : "rehearsal",
         std::to_string(run.batch * steps / seconds) + " images/s");
  figure("memory", std::to_string(run.network->memory_bytes() >> 20U) + " MiB");
  return true;
}

int run(const std::string& part, const std::string& device) {
  const std::map<std::string, bool (*)(const std::string&)> parts = {
      {"devices", devices}, {"ops", ops},     {"networks", networks},
      {"repeats", repeats}, {"speed", speed}, {"out-of-memory", out_of_memory}};
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
