// Between a network with its optimizer and a checkpoint on disk.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/models/network.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

/// The views point into the network and the optimizer's memory: save before the next step.
CheckpointContents snapshot(Network& network, const std::vector<OptimizerState>& optimizer,
                            const nlohmann::json& state);

/// Reads model.safetensors of a checkpoint folder (or a bare .safetensors file) into the network.
/// Throws Error(Exit::data) naming the first tensor that is missing or of another shape.
void load_weights(const std::string& path, Network& network);

/// Reads optimizer.safetensors of a checkpoint folder. Throws Error(Exit::data) naming the first
/// tensor that is missing.
void load_optimizer(const std::string& checkpoint, const Network& network,
                    const std::vector<OptimizerState>& optimizer);

}  // namespace trainyard
