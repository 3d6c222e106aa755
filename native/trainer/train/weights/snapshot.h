// Between a network with its optimizer and a checkpoint on disk.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/models/network.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

class WeightAverage;

/// The views point into the network's and the optimizer's memory and into the averages: save before
/// the next step. Where there are averages, they are the model, and optimizer.safetensors has the
/// weights and statistics that training goes on from.
CheckpointContents snapshot(Network& network, const std::vector<OptimizerState>& optimizer,
                            const std::optional<Averages>& averages, const nlohmann::json& state);

/// Fills an arena with the tensors NAME + suffix of a file. Throws Error(Exit::data) naming the
/// first one that is missing or of another shape.
void fill_tensors(const LoadedTensors& file, const std::vector<TensorInfo>& infos, std::span<float> arena,
                  const std::string& suffix = "");

/// Reads model.safetensors of a checkpoint folder (or a bare .safetensors file) into the network.
/// Throws Error(Exit::data) naming the first tensor that is missing or of another shape.
void load_weights(const std::string& path, Network& network);

/// Brings network, optimizer and average to where a checkpoint's training stood. average: nullptr
/// where none is wanted; it begins anew where the checkpoint has none. Throws Error(Exit::data)
/// naming the first tensor that is missing.
void load_training(const std::string& checkpoint, Network& network, const std::vector<OptimizerState>& optimizer,
                   WeightAverage* average);

}  // namespace trainyard
