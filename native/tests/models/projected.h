// A small network with everything that a back end may compute together: a pooled stem, and residual
// blocks of both kinds whose shortcut is a projection.
#pragma once
#include "trainer/models/builders.h"

namespace trainyard::test {

inline std::unique_ptr<Graph> projected(int image_size, int classes) {
  auto graph = std::make_unique<Graph>();
  ValueId x = input(*graph, image_size, {0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F});
  x = conv2d(*graph, "conv1", x, 16, 7, 2);
  x = max_pool(*graph, "maxpool", batch_norm(*graph, "bn1", x, {.relu = true}), 3, 2, 1);
  x = basic_block(*graph, "layer1.0", x, 32, 2, Shortcut::projection);
  x = bottleneck_block(*graph, "layer2.0", x, 16, 1);
  x = bottleneck_block(*graph, "layer2.1", x, 16, 1);
  linear(*graph, "fc", global_avg_pool(*graph, "avgpool", x), classes, false);
  return graph;
}

}  // namespace trainyard::test
