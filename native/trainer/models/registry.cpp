// The models by name.
#include <array>

#include "common/error.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/models/processor.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard {

namespace {

void check(const NetworkOptions& options) {
  std::string names;
  bool known = false;
  for (const ModelInfo& model : known_models()) {
    names += (names.empty() ? "" : ", ") + model.name;
    known = known || model.name == options.model;
  }
  if (!known) throw Error(Exit::usage, "There is no model '" + options.model + "'. Use one of: " + names + ".");
  if (options.classes < 1) throw Error(Exit::data, "The data has no class. Give a folder of class folders.");
  if (options.batch < 1) throw Error(Exit::usage, "The batch size must be at least 1. Give --batch-size.");
  const int least = options.model == "mlp" ? 1 : options.model == "resnet18" ? 32 : 8;
  if (options.image_size < least) {
    throw Error(Exit::usage, "The model " + options.model + " needs images of at least " + std::to_string(least) +
                                 " pixels, not " + std::to_string(options.image_size) + ". Use a larger --image-size.");
  }
}

std::unique_ptr<Backend> make_backend(const NetworkOptions& options) {
  return options.device == "cuda" ? open_cuda_backend(options.device_index) : make_cpu_backend();
}

}  // namespace

std::span<const ModelInfo> known_models() {
  static const std::array<ModelInfo, 3> models{{{"resnet20", 32}, {"resnet18", 224}, {"mlp", 32}}};
  return models;
}

std::unique_ptr<Network> make_network(const NetworkOptions& options) {
  check(options);
  if (!processor_has_avx2()) {
    throw Error(Exit::device, "This processor has no AVX2. Use a machine whose processor is from 2013 or newer.");
  }
  auto graph = std::make_unique<Graph>();
  if (options.model == "resnet20") {
    build_cifar_resnet(*graph, 3, options.image_size, options.classes);
  } else if (options.model == "resnet18") {
    build_resnet(*graph, {2, 2, 2, 2}, options.image_size, options.classes);
  } else {
    build_mlp(*graph, options.image_size, options.classes);
  }
  return std::make_unique<GraphNetwork>(options, std::move(graph), make_backend(options));
}

}  // namespace trainyard
