// The parts of Inception v3 (Szegedy et al. 2015, arXiv:1512.00567) as torchvision builds and names
// them.
#pragma once
#include <string>

#include "trainer/layers/layers.h"

namespace trainyard {

/// 1x1, 5x5 and two 3x3 convolutions and a pooled branch side by side (figure 5 there).
/// [n, c, h, w] -> [n, 224 + pool_features, h, w]
ValueId inception_a(Graph& graph, const std::string& name, ValueId x, int pool_features);
/// Half the size: 3x3/2, two 3x3 and another /2, and max pooling (figure 10). [n, c, h, w] -> [n, c
/// + 480, h', w']
ValueId inception_b(Graph& graph, const std::string& name, ValueId x);
/// 7x7 convolutions as 1x7 and 7x1, `width` channels inside (figure 6). [n, c, h, w] -> [n, 768, h,
/// w]
ValueId inception_c(Graph& graph, const std::string& name, ValueId x, int width);
/// Half the size with 7x7 convolutions. [n, c, h, w] -> [n, c + 512, h', w']
ValueId inception_d(Graph& graph, const std::string& name, ValueId x);
/// 3x3 convolutions as 1x3 and 3x1 side by side (figure 7). [n, c, h, w] -> [n, 2048, h, w]
ValueId inception_e(Graph& graph, const std::string& name, ValueId x);
/// The classifier beside the trunk (figure 8). x: at least 17 x 17. [n, c, h, w] -> [n, classes, 1,
/// 1]
ValueId inception_auxiliary(Graph& graph, const std::string& name, ValueId x, int classes);

/// What the auxiliary classifier's loss counts beside the main one: 0.4, as PyTorch's tutorial on
/// fine-tuning torchvision's models and tensorflow's slim have it for this model.
inline constexpr float kAuxiliaryWeight = 0.4F;

/// The whole model. Pixels are scaled to [-1, 1], which is what torchvision's `transform_input`
/// makes of ImageNet's preset, so its published weights can be taken as they are.
void build_inception_v3(Graph& graph, int image_size, int classes);

}  // namespace trainyard
