// A moving average of the weights and of batch norm's running statistics (`--ema`).
#pragma once
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/models/network.h"

namespace trainyard {

/// average = decay * average + (1 - decay) * value, in fp32: torchvision's ExponentialMovingAverage
/// (references/classification/utils.py, with its use_buffers), which is PyTorch's AveragedModel.
/// Kept where the weights are.
class WeightAverage {
 public:
  /// device: where training stays on its device, the network's optimizer there; else nullptr. Both
  /// must outlive it. decay: in (0, 1).
  WeightAverage(Network& network, DeviceOptimizer* device, double decay);

  /// The weights of now count. The first time, and with `anew`, the average becomes a copy of them.
  void add(bool anew);
  /// Whether there is one: add() was called, or a checkpoint had one.
  bool begun() const { return begun_; }
  /// Brought to the host; until the next call. Only once begun.
  Averages fetch();
  /// Goes on from model.safetensors of a checkpoint that has an average.
  void load(const LoadedTensors& model);

 private:
  Averages host();

  Network& network_;
  DeviceOptimizer* device_;
  double decay_;
  bool begun_ = false;
  std::vector<float> weights_, statistics_;  ///< without a device; as the network's arenas
};

}  // namespace trainyard
