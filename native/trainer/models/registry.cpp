// The models by name.
#include <algorithm>
#include <array>
#include <vector>

#include "common/error.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/models/inception.h"
#include "trainer/models/processor.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard {

namespace {

struct Known {
  ModelInfo info;
  int least_size;  ///< of an image's side: a pixel must be left behind the last stride
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
  static const std::array<Known, 9> list{{{{"resnet20", 32}, 8, cifar_resnet<3>},
                                          {{"resnet56", 32}, 8, cifar_resnet<9>},
                                          {{"resnet18", 224}, 32, resnet<Block::basic, 2, 2, 2, 2>},
                                          {{"resnet34", 224}, 32, resnet<Block::basic, 3, 4, 6, 3>},
                                          {{"resnet50", 224}, 32, resnet<Block::bottleneck, 3, 4, 6, 3>},
                                          {{"resnet101", 224}, 32, resnet<Block::bottleneck, 3, 4, 23, 3>},
                                          {{"resnet152", 224}, 32, resnet<Block::bottleneck, 3, 8, 36, 3>},
                                          // Its auxiliary head takes 17 x 17 pixels.
                                          {{"inception_v3", 299}, 299, build_inception_v3},
                                          {{"mlp", 32}, 1, build_mlp}}};
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

void check(const NetworkOptions& options, const Known& model) {
  if (options.classes < 1) throw Error(Exit::data, "The data has no class. Give a folder of class folders.");
  if (options.batch < 1) throw Error(Exit::usage, "The batch size must be at least 1. Give --batch-size.");
  if (options.image_size < model.least_size) {
    throw Error(Exit::usage, "The model " + options.model + " needs images of at least " +
                                 std::to_string(model.least_size) + " pixels, not " +
                                 std::to_string(options.image_size) + ". Use a larger --image-size.");
  }
}

bool has_dropout(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(),
                     [](const auto& layer) { return layer->op() == "Dropout"; });
}

std::unique_ptr<Backend> make_backend(const NetworkOptions& options) {
  return options.device == "cuda" ? open_cuda_backend(options.device_index) : make_cpu_backend();
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

std::unique_ptr<Network> make_network(const NetworkOptions& options) {
  const Known& model = find(options.model);
  check(options, model);
  if (!processor_has_avx2()) {
    throw Error(Exit::device, "This processor has no AVX2. Use a machine whose processor is from 2013 or newer.");
  }
  require_precision(options.precision, options.device);
  auto graph = std::make_unique<Graph>();
  model.build(*graph, options.image_size, options.classes);
  if (options.dropout && !has_dropout(*graph)) {
    throw Error(Exit::usage, "--dropout has no meaning with --model " + options.model +
                                 ". Leave it out, or use --model inception_v3");
  }
  auto backend = make_backend(options);
  prepare_backend(*backend, options.precision);
  return std::make_unique<GraphNetwork>(options, std::move(graph), std::move(backend));
}

}  // namespace trainyard
