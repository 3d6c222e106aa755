// A network from what the user asked for, which is checked first.
#include <algorithm>

#include "common/error.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/models/processor.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard {

namespace {

void check(const NetworkOptions& options, const ModelInfo& model) {
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
  return options.device == "cuda" ? open_cuda_backend(options.device_index, options.plans) : make_cpu_backend();
}

}  // namespace

std::unique_ptr<Network> make_network(const NetworkOptions& options) {
  const ModelInfo& model = find_model(options.model);
  check(options, model);
  if (!processor_has_avx2()) {
    throw Error(Exit::device, "This processor has no AVX2. Use a machine whose processor is from 2013 or newer.");
  }
  require_precision(options.precision, options.device);
  auto graph = build_model(options.model, options.image_size, options.classes);
  if (options.dropout && !has_dropout(*graph)) {
    throw Error(Exit::usage, "--dropout has no meaning with --model " + options.model +
                                 ". Leave it out, or use --model inception_v3");
  }
  auto backend = make_backend(options);
  prepare_backend(*backend, options.precision);
  return std::make_unique<GraphNetwork>(options, std::move(graph), std::move(backend));
}

}  // namespace trainyard
