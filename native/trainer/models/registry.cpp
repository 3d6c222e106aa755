// The models by name.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/models/builders.h"
#include "trainer/models/inception.h"
#include "trainer/models/network.h"

namespace trainyard {

namespace {

struct Known {
  ModelInfo info;
  void (*build)(Graph& graph, int image_size, int classes);
};

/// torchvision's blocks of each depth (He et al. 2015, table 1).
template <Block block, int... blocks>
void resnet(Graph& graph, int image_size, int classes) {
  build_resnet(graph, block, {blocks...}, image_size, classes);
}
template <int blocks_a_stage>
void cifar_resnet(Graph& graph, int image_size, int classes) {
  build_cifar_resnet(graph, blocks_a_stage, image_size, classes);
}

const std::array<Known, 9>& models() {
  static const std::array<Known, 9> list{{{{"resnet20", 32, 8}, cifar_resnet<3>},
                                          {{"resnet56", 32, 8}, cifar_resnet<9>},
                                          {{"resnet18", 224, 32}, resnet<Block::basic, 2, 2, 2, 2>},
                                          {{"resnet34", 224, 32}, resnet<Block::basic, 3, 4, 6, 3>},
                                          {{"resnet50", 224, 32}, resnet<Block::bottleneck, 3, 4, 6, 3>},
                                          {{"resnet101", 224, 32}, resnet<Block::bottleneck, 3, 4, 23, 3>},
                                          {{"resnet152", 224, 32}, resnet<Block::bottleneck, 3, 8, 36, 3>},
                                          // Its auxiliary head takes 17 x 17 pixels.
                                          {{"inception_v3", 299, 299}, build_inception_v3},
                                          {{"mlp", 32, 1, false}, build_mlp}}};
  return list;
}

const Known& find(const std::string& model) {
  std::string names;
  for (const Known& known : models()) {
    if (known.info.name == model) return known;
    names += (names.empty() ? "" : ", ") + known.info.name;
  }
  throw Error(Exit::usage, "There is no model '" + model + "'. Use one of: " + names + ".");
}

}  // namespace

std::span<const ModelInfo> known_models() {
  static const std::vector<ModelInfo> infos = [] {
    std::vector<ModelInfo> list;
    for (const Known& known : models()) list.push_back(known.info);
    return list;
  }();
  return infos;
}

const ModelInfo& find_model(const std::string& model) { return find(model).info; }

std::unique_ptr<Graph> build_model(const std::string& model, int image_size, int classes) {
  auto graph = std::make_unique<Graph>();
  find(model).build(*graph, image_size, classes);
  return graph;
}

}  // namespace trainyard
