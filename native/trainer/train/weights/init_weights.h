// --init-weights: training that starts from someone's weights.
#pragma once
#include <string>
#include <vector>

#include "trainer/models/network.h"

namespace trainyard {

/// Takes every tensor of a .safetensors file (or of a checkpoint's folder) into the network. The
/// last layer may be of another number of classes: then it keeps the network's own first values,
/// and the names of its tensors are returned. Throws Error(Exit::data) naming what else is missing,
/// of another shape, or not the network's; counters of batches (num_batches_tracked) may be there
/// or not.
std::vector<std::string> init_weights(const std::string& path, Network& network);

}  // namespace trainyard
