// Gradients of several micro-batches, added up before they are shared with the other ranks.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "trainer/optim/device_optimizer.h"

namespace trainyard {

class Accumulator {
 public:
  /// gradients: the network's arena, which each backward pass overwrites. device: where they stay
  /// on one, its optimizer, which adds them up there.
  explicit Accumulator(std::span<float> gradients, DeviceOptimizer* device) : gradients_(gradients), device_(device) {}

  /// Keeps what the arena holds, added to what was kept.
  void keep();
  /// Adds what was kept to [begin, end) of the arena. The last micro-batch of a step calls it for
  /// every range.
  void add_to(size_t begin, size_t end);
  /// Forgets what was kept: the next step begins.
  void clear() { empty_ = true; }

 private:
  std::span<float> gradients_;
  DeviceOptimizer* device_;
  std::vector<float> sums_;  ///< laid out as the gradients; made when first needed
  bool empty_ = true;
};

}  // namespace trainyard
