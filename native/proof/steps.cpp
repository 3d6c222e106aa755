// Training steps for scripts/gpu/torch_steps.py to repeat in PyTorch.
#include <cstdio>
#include <fstream>

#include "common/error.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"

namespace trainyard::proof {
namespace {

template <class Number>
void write(const std::string& path, std::span<const Number> values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  if (!file.flush()) throw Error(Exit::internal, "cannot write " + path);
}

/// name, whether it decays, its shape with commas: a line a tensor, in the arena's order.
void write_names(const std::string& path, const std::vector<TensorInfo>& tensors) {
  std::ofstream file(path);
  for (const TensorInfo& tensor : tensors) {
    file << tensor.name << '\t' << (tensor.decay ? 1 : 0) << '\t';
    for (size_t i = 0; i < tensor.shape.size(); ++i) file << (i > 0 ? "," : "") << tensor.shape[i];
    file << '\n';
  }
  if (!file.flush()) throw Error(Exit::internal, "cannot write " + path);
}

}  // namespace

bool steps(const std::string& device, const std::vector<std::string>& arguments) {
  if (arguments.size() != 6) {
    throw Error(Exit::usage, "usage: proof steps DEVICE FOLDER MODEL PIXELS BATCH CLASSES STEPS");
  }
  const std::string& folder = arguments[0];
  const Setup setup{.model = arguments[1],
                    .size = std::stoi(arguments[2]),
                    .batch = std::stoi(arguments[3]),
                    .classes = std::stoi(arguments[4])};
  Training training(setup, open(device));
  Network& network = training.network();
  const auto images = static_cast<size_t>(setup.batch) * static_cast<size_t>(setup.size * setup.size) * 3;
  write(folder + "/images.u8", std::span(training.view().images, images));
  write(folder + "/labels.i32", std::span(training.view().labels, static_cast<size_t>(setup.batch)));
  write_names(folder + "/tensors.tsv", network.parameters());
  write<float>(folder + "/weights-before.f32", network.weights());
  // The first step's gradients are the host's; from then on they stay on the device.
  training.gradients();
  write<float>(folder + "/gradients.f32", network.gradients());
  Training again(setup, open(device));
  DeviceOptimizer& optimizer = again.on_device({}, {".momentum"});
  std::vector<double> losses;
  for (int64_t number = 1; number <= std::stoll(arguments[5]); ++number) {
    losses.push_back(again.gradients());
    optimizer.step(0.01F, number);
  }
  optimizer.fetch();
  write<double>(folder + "/losses.f64", losses);
  write<float>(folder + "/weights-after.f32", again.network().weights());
  return true;
}

}  // namespace trainyard::proof
