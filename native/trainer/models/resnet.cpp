#include "common/error.h"
#include "trainer/models/builders.h"
#include "trainer/models/network.h"

namespace trainyard {

namespace {

ValueId pixels(Graph& graph, int image_size) {
  return input(graph, image_size, {kPixelMean[0], kPixelMean[1], kPixelMean[2]},
               {kPixelStd[0], kPixelStd[1], kPixelStd[2]});
}

ValueId conv_bn_relu(Graph& graph, const std::string& conv, const std::string& norm, ValueId x, int out, int kernel,
                     int stride) {
  return batch_norm(graph, norm, conv2d(graph, conv, x, out, kernel, stride), {.relu = true});
}

/// What is added to a branch of `out` channels: x itself, or its projection where the shape
/// changes.
ValueId projected(Graph& graph, const std::string& name, ValueId x, int out, int stride) {
  if (stride == 1 && graph.shape(x).c == out) return x;
  return batch_norm(graph, name + ".downsample.1", conv2d(graph, name + ".downsample.0", x, out, 1, stride), {});
}

}  // namespace

ValueId basic_block(Graph& graph, const std::string& name, ValueId x, int out, int stride, Shortcut kind) {
  const ValueId hidden = conv_bn_relu(graph, name + ".conv1", name + ".bn1", x, out, 3, stride);
  const ValueId branch = conv2d(graph, name + ".conv2", hidden, out, 3, 1);
  ValueId residual = x;
  if (kind == Shortcut::projection) {
    residual = projected(graph, name, x, out, stride);
  } else if (stride != 1 || graph.shape(x).c != out) {
    residual = shortcut(graph, name + ".shortcut", x, out, stride);
  }
  return batch_norm(graph, name + ".bn2", branch, {.relu = true, .residual = residual});
}

ValueId bottleneck_block(Graph& graph, const std::string& name, ValueId x, int width, int stride) {
  const int out = 4 * width;
  const ValueId narrow = conv_bn_relu(graph, name + ".conv1", name + ".bn1", x, width, 1, 1);
  const ValueId hidden = conv_bn_relu(graph, name + ".conv2", name + ".bn2", narrow, width, 3, stride);
  const ValueId branch = conv2d(graph, name + ".conv3", hidden, out, 1, 1);
  const ValueId residual = projected(graph, name, x, out, stride);
  return batch_norm(graph, name + ".bn3", branch, {.relu = true, .residual = residual});
}

void build_cifar_resnet(Graph& graph, int blocks_a_stage, int image_size, int classes) {
  ValueId x = pixels(graph, image_size);
  x = conv_bn_relu(graph, "conv1", "bn1", x, 16, 3, 1);
  for (int stage = 0; stage < 3; ++stage) {
    for (int block = 0; block < blocks_a_stage; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      x = basic_block(graph, name, x, 16 << stage, stage > 0 && block == 0 ? 2 : 1, Shortcut::zeros);
    }
  }
  linear(graph, "fc", global_avg_pool(graph, "avgpool", x), classes, false);
}

void build_resnet(Graph& graph, Block block, const std::array<int, 4>& blocks, int image_size, int classes) {
  ValueId x = pixels(graph, image_size);
  x = conv_bn_relu(graph, "conv1", "bn1", x, 64, 7, 2);
  x = max_pool(graph, "maxpool", x, 3, 2, 1);
  for (size_t stage = 0; stage < blocks.size(); ++stage) {
    for (int i = 0; i < blocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      const int width = 64 << stage;
      const int stride = stage > 0 && i == 0 ? 2 : 1;
      x = block == Block::basic ? basic_block(graph, name, x, width, stride, Shortcut::projection)
                                : bottleneck_block(graph, name, x, width, stride);
    }
  }
  linear(graph, "fc", global_avg_pool(graph, "avgpool", x), classes, false);
}

void build_mlp(Graph& graph, int image_size, int classes) {
  ValueId x = flatten(graph, "flatten", pixels(graph, image_size));
  x = linear(graph, "fc1", x, 256, true);
  x = linear(graph, "fc2", x, 128, true);
  linear(graph, "fc3", x, classes, false);
}

}  // namespace trainyard
