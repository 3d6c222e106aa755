// Numbers that have left the reals: noticed before they are saved, and where they were first seen.
#pragma once
#include <string>

#include "common/error.h"
#include "trainer/models/network.h"

namespace trainyard {

/// Training went astray: the loss or the weights are no longer finite. Exit::data.
class Diverged final : public Error {
 public:
  explicit Diverged(const std::string& what) : Error(Exit::data, what) {}
};

/// Whether all weights and running statistics are finite. The same on every rank, whose weights are
/// the same; running statistics are each rank's own. device: where weights stay on one, the
/// network's optimizer there, which looks at them without copying them to the host; else nullptr.
bool is_finite(Network& network, DeviceOptimizer* device = nullptr);

/// Where to look, in words that end a sentence: " (conv1.weight is not finite)", or the first batch
/// norm in the order of the forward pass that met something else than numbers, or "" where nothing
/// tells. Fetches weights and statistics from the device.
std::string first_not_finite(Network& network, DeviceOptimizer* device = nullptr);

/// The same of a step whose gradients are not finite: the tensor that the backward pass reached
/// first. Fetches gradients from the device.
std::string first_gradient_not_finite(Network& network, DeviceOptimizer* device = nullptr);

}  // namespace trainyard
