#include "proof/training.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "trainer/base/random.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/ops/cuda_library.h"

extern "C" trainyard::Backend* trainyard_reference();

namespace trainyard::proof {

std::unique_ptr<Backend> reference() { return std::unique_ptr<Backend>(trainyard_reference()); }

std::unique_ptr<Backend> open(const std::string& device, PlanChooser* plans) {
  return device == "cuda" ? open_cuda_backend(0, plans) : reference();
}

Training::Training(const Setup& setup, std::unique_ptr<Backend> backend) : setup_(setup) {
  NetworkOptions options;
  options.model = setup.model;
  options.classes = setup.classes;
  options.image_size = setup.size;
  options.batch = setup.batch;
  options.precision = setup.precision;
  options.sync_batch_norm = setup.sync_batch_norm;
  options.keeps_batch = setup.keeps_batch;
  options.record_steps = setup.record_steps;
  options.memory_growth = setup.memory_growth;
  options.training = setup.training;
  prepare_backend(*backend, setup.precision);
  network_ =
      std::make_unique<GraphNetwork>(options, build_model(setup.model, setup.size, setup.classes), std::move(backend));
  see(0, setup.batch);
}

void Training::see(int first, int of) {
  const size_t image = static_cast<size_t>(setup_.size) * static_cast<size_t>(setup_.size) * 3;
  Random random{77};
  images_.resize(static_cast<size_t>(of) * image);
  for (uint8_t& byte : images_) byte = static_cast<uint8_t>(random.below(256));
  labels_.clear();
  for (int i = 0; i < of; ++i) labels_.push_back(static_cast<int32_t>(random.below(setup_.classes)));
  const auto skipped = static_cast<size_t>(first);
  view_ = {setup_.batch, setup_.size, images_.data() + skipped * image, labels_.data() + skipped,
           static_cast<uint64_t>(first)};
}

void Training::mix(float share) {
  other_labels_.clear();
  for (int i = 0; i < view_.count; ++i) other_labels_.push_back((view_.labels[i] + 1) % setup_.classes);
  view_.other_labels = other_labels_.data();
  view_.share = share;
}

double Training::gradients() {
  return network_->train_step(view_, scale() / static_cast<float>(setup_.batch), [](size_t, size_t) {}).loss_sum /
         setup_.batch;
}

double Training::gradients_ahead() {
  const auto bring = [this] { network_->prefetch(view_); };
  return network_->train_step(view_, scale() / static_cast<float>(setup_.batch), nullptr, bring).loss_sum /
         setup_.batch;
}

void Training::descend() {
  const auto weights = network_->weights();
  const auto gradients = network_->gradients();
  const auto finite = [](float one) { return std::isfinite(one); };
  if (setup_.precision == Precision::fp16 && !std::ranges::all_of(gradients, finite)) {
    scale_ /= 2;
    return;
  }
  for (size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.02F / scale() * gradients[i];
  network_->weights_changed();
}

double Training::step() {
  const double loss = gradients();
  descend();
  return loss;
}

DeviceOptimizer& Training::on_device(const OptimizerOptions& options, const std::vector<std::string>& suffixes) {
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& tensor : network_->parameters()) {
    ranges.push_back({.offset = tensor.offset, .size = tensor.size, .decay = tensor.decay, .adapt = tensor.decay});
  }
  DeviceOptimizer* optimizer = network_->train_on_device(options, ranges, suffixes);
  if (optimizer == nullptr) throw Error(Exit::internal, "the optimizer does not run on the device");
  return *optimizer;
}

}  // namespace trainyard::proof
