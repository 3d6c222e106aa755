// The models' shapes: each builder appends its layers to a graph whose last output is the logits.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "trainer/layers/layers.h"

namespace trainyard {

/// Two 3x3 convolutions beside a shortcut (He et al. 2015, arXiv:1512.03385, figure 5 left).
/// [n, in, h, w] -> [n, out, h/stride, w/stride]
enum class Shortcut {
  zeros,      ///< option A: no parameters
  projection  ///< option B: a 1x1 convolution with batch norm, named downsample.0 and .1 as in torchvision
};
ValueId basic_block(Graph& graph, const std::string& name, ValueId x, int out, int stride, Shortcut shortcut);

/// A 1x1, a 3x3 and a 1x1 convolution beside a projection where the shape changes (He et al. 2015,
/// figure 5 right), with the stride on the 3x3 as in torchvision ("v1.5"). `width` channels inside,
/// 4 * width outside. [n, in, h, w] -> [n, 4 * width, h/stride, w/stride]
ValueId bottleneck_block(Graph& graph, const std::string& name, ValueId x, int width, int stride);

/// The ResNet for 32x32 images of section 4.2 there, with 6n+2 layers: 16, 32 and 64 channels,
/// shortcuts without parameters.
void build_cifar_resnet(Graph& graph, int blocks_a_stage, int image_size, int classes);

/// torchvision's ResNet: stem 7x7/2, max pool, four stages of basic blocks of 64 to 512 channels,
/// or of bottlenecks of 256 to 2048.
enum class Block { basic, bottleneck };
void build_resnet(Graph& graph, Block block, const std::array<int, 4>& blocks, int image_size, int classes);

/// Three fully connected layers with ReLU: 256, 128, classes.
void build_mlp(Graph& graph, int image_size, int classes);

/// The model that known_models() names so. Throws as find_model does.
std::unique_ptr<Graph> build_model(const std::string& model, int image_size, int classes);

}  // namespace trainyard
