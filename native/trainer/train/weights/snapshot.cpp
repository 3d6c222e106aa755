#include "trainer/train/weights/snapshot.h"

#include <filesystem>
#include <utility>

#include "trainer/train/weights/weight_average.h"

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

/// Of the weights and statistics that training goes on from, beside averages.
constexpr const char* kCurrent = ".current";

}  // namespace

void fill_tensors(const LoadedTensors& file, const std::vector<TensorInfo>& infos, std::span<float> arena,
                  const std::string& suffix) {
  for (const TensorInfo& info : infos) {
    file.copy(info.name + suffix, info.shape, arena.subspan(info.offset, info.size));
  }
}

CheckpointContents snapshot(Network& network, const std::vector<OptimizerState>& optimizer,
                            const std::optional<Averages>& averages, const nlohmann::json& state) {
  const Averages current{network.weights(), network.running_statistics()};
  const Averages& model = averages ? *averages : current;
  CheckpointContents contents;
  contents.step = state.at("step").get<int64_t>();
  contents.model = state.at("model").get<std::string>();
  contents.classes = state.at("classes").get<int>();
  contents.tensors = views(network.parameters(), model.weights, "");
  for (TensorView& view : views(network.statistics(), model.statistics, "")) {
    // torchvision's batch norm also counts its batches; strict loading wants the counter.
    const std::string mean = ".running_mean";
    if (view.name.ends_with(mean)) {
      const std::string layer = view.name.substr(0, view.name.size() - mean.size());
      contents.counters.push_back({layer + ".num_batches_tracked", contents.step});
    }
    contents.tensors.push_back(std::move(view));
  }
  const auto keep = [&](const std::vector<TensorInfo>& infos, std::span<const float> arena, const std::string& suffix) {
    for (TensorView& view : views(infos, arena, suffix)) contents.optimizer.push_back(std::move(view));
  };
  for (const OptimizerState& part : optimizer) keep(network.parameters(), part.values, part.suffix);
  if (averages) {
    keep(network.parameters(), current.weights, kCurrent);
    keep(network.statistics(), current.statistics, kCurrent);
  }
  contents.state = state;
  return contents;
}

void load_weights(const std::string& path, Network& network) {
  const bool folder = std::filesystem::is_directory(path);
  const LoadedTensors file = LoadedTensors::read(folder ? path + "/model.safetensors" : path);
  fill_tensors(file, network.parameters(), network.weights());
  fill_tensors(file, network.statistics(), network.running_statistics());
  network.weights_changed();
}

void load_training(const std::string& checkpoint, Network& network, const std::vector<OptimizerState>& optimizer,
                   WeightAverage* average) {
  const LoadedTensors file = LoadedTensors::read(checkpoint + "/optimizer.safetensors");
  for (const OptimizerState& part : optimizer) fill_tensors(file, network.parameters(), part.values, part.suffix);
  const bool averaged = file.find(network.parameters().front().name + kCurrent) != nullptr;
  if (!averaged) return load_weights(checkpoint, network);
  fill_tensors(file, network.parameters(), network.weights(), kCurrent);
  fill_tensors(file, network.statistics(), network.running_statistics(), kCurrent);
  network.weights_changed();
  if (average != nullptr) average->load(LoadedTensors::read(checkpoint + "/model.safetensors"));
}

}  // namespace trainyard
