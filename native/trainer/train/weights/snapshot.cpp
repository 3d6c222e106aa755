#include "trainer/train/weights/snapshot.h"

#include <filesystem>
#include <utility>

namespace trainyard {
namespace {

std::vector<TensorView> views(const std::vector<TensorInfo>& infos, std::span<const float> arena,
                              const std::string& suffix) {
  std::vector<TensorView> result;
  for (const TensorInfo& info : infos) {
    result.push_back({info.name + suffix, info.shape, arena.subspan(info.offset, info.size)});
  }
  return result;
}

void fill(const LoadedTensors& file, const std::vector<TensorInfo>& infos, std::span<float> arena,
          const std::string& suffix) {
  for (const TensorInfo& info : infos) {
    file.copy(info.name + suffix, info.shape, arena.subspan(info.offset, info.size));
  }
}

}  // namespace

CheckpointContents snapshot(Network& network, const std::vector<OptimizerState>& optimizer,
                            const nlohmann::json& state) {
  CheckpointContents contents;
  contents.step = state.at("step").get<int64_t>();
  contents.model = state.at("model").get<std::string>();
  contents.classes = state.at("classes").get<int>();
  contents.tensors = views(network.parameters(), network.weights(), "");
  for (TensorView& view : views(network.statistics(), network.running_statistics(), "")) {
    // torchvision's batch norm also counts its batches; strict loading wants the counter.
    const std::string mean = ".running_mean";
    if (view.name.ends_with(mean)) {
      const std::string layer = view.name.substr(0, view.name.size() - mean.size());
      contents.counters.push_back({layer + ".num_batches_tracked", contents.step});
    }
    contents.tensors.push_back(std::move(view));
  }
  for (const OptimizerState& part : optimizer) {
    for (TensorView& view : views(network.parameters(), part.values, part.suffix)) {
      contents.optimizer.push_back(std::move(view));
    }
  }
  contents.state = state;
  return contents;
}

void load_weights(const std::string& path, Network& network) {
  const bool folder = std::filesystem::is_directory(path);
  const LoadedTensors file = LoadedTensors::read(folder ? path + "/model.safetensors" : path);
  fill(file, network.parameters(), network.weights(), "");
  fill(file, network.statistics(), network.running_statistics(), "");
  network.weights_changed();
}

void load_optimizer(const std::string& checkpoint, const Network& network,
                    const std::vector<OptimizerState>& optimizer) {
  const LoadedTensors file = LoadedTensors::read(checkpoint + "/optimizer.safetensors");
  for (const OptimizerState& part : optimizer) fill(file, network.parameters(), part.values, part.suffix);
}

}  // namespace trainyard
