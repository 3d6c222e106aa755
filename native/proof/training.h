// A network in training on random images, on the device under proof or on the reference.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "trainer/models/network.h"
#include "trainer/ops/contract/backend.h"

namespace trainyard::proof {

/// The CUDA back end's ops on the host.
std::unique_ptr<Backend> reference();
/// cuda: GPU 0, where `plans` chooses; cpu: the reference in its place.
std::unique_ptr<Backend> open(const std::string& device, PlanChooser* plans = nullptr);

struct Setup {
  std::string model;  ///< one of known_models()
  int size = 16;      ///< pixels a side
  int batch = 8;
  int classes = 10;
  Precision precision = Precision::fp32;
  StatisticsReducer* sync_batch_norm = nullptr;  ///< not owned
  bool keeps_batch = false;                      ///< see NetworkOptions
  bool record_steps = true;                      ///< see NetworkOptions
  bool memory_growth = false;                    ///< see NetworkOptions
  bool training = true;                          ///< false: for evaluations alone
};

class Training {
 public:
  Training(const Setup& setup, std::unique_ptr<Backend> backend);

  /// Its images [first, first + count) of those drawn for `of`: what one of several ranks sees of a
  /// global batch.
  void see(int first, int of);
  /// From now on they are mixtures, in each of which its own label has this share.
  void mix(float share);
  /// Of the loss, so that fp16 keeps small gradients.
  float scale() const { return setup_.precision == Precision::fp16 ? scale_ : 1; }
  Network& network() { return *network_; }
  const BatchView& view() const { return view_; }
  /// Loss (mean), forward and backward; gradients are of the mean loss times scale().
  double gradients();
  /// The same; its images are brought for the next step while this one runs, which has to be one of
  /// these too.
  double gradients_ahead();
  /// gradients(), then a plain step down them, on the host.
  double step();
  /// In fp16 with a gradient that is not finite, no step is taken and the scale is halved, as the
  /// trainer does.
  void descend();
  /// Lets the optimizer run on the device. suffixes: one for each number it remembers of a weight.
  DeviceOptimizer& on_device(const OptimizerOptions& options, const std::vector<std::string>& suffixes);

 private:
  Setup setup_;
  std::vector<uint8_t> images_;  // [batch, size, size, 3]
  std::vector<int32_t> labels_, other_labels_;
  BatchView view_;
  std::unique_ptr<Network> network_;
  float scale_ = 1024;
};

}  // namespace trainyard::proof
