// The layers a model is built of: each function appends one to the graph and returns its output.
// One file a layer.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "trainer/layers/graph.h"

namespace trainyard {

/// The network's input: [n, 3, size, size], normalised by mean and standard deviation.
ValueId input(Graph& graph, int size, const std::array<float, 3>& mean, const std::array<float, 3>& std);

struct Conv2dOptions {
  int out = 0;
  std::array<int, 2> kernel{1, 1};
  std::array<int, 2> stride{1, 1};
  std::array<int, 2> pad{0, 0};
  double deviation = 0;  ///< of the first weights; 0: He's
};
/// Convolution without bias. Weight: normal with He et al.'s variance for ReLU, 2 / (out * kernel
/// area) ("fan out", arXiv:1502.01852, section 2.2), as torchvision's ResNet.
ValueId conv2d(Graph& graph, const std::string& name, ValueId x, const Conv2dOptions& options);
/// The square kernel that most models use, padded so that a stride of 1 keeps the size.
ValueId conv2d(Graph& graph, const std::string& name, ValueId x, int out, int kernel, int stride);

struct BatchNormOptions {
  bool relu = false;
  ValueId residual = -1;  ///< added before the ReLU
  double eps = 1e-5;
};
ValueId batch_norm(Graph& graph, const std::string& name, ValueId x, const BatchNormOptions& options);

ValueId max_pool(Graph& graph, const std::string& name, ValueId x, int kernel, int stride, int pad);
/// Zeros around the image count as pixels, as by PyTorch's default.
ValueId avg_pool(Graph& graph, const std::string& name, ValueId x, int kernel, int stride, int pad);
/// [n, c1, h, w], [n, c2, h, w], … -> [n, c1 + c2 + …, h, w]
ValueId concat(Graph& graph, const std::string& name, const std::vector<ValueId>& parts);
/// Only behind what is stored plainly; `rate` unless the program's purpose says otherwise. See
/// DropoutOp.
ValueId dropout(Graph& graph, const std::string& name, ValueId x, float rate);
/// [n, c, h, w] -> [n, c, 1, 1]
ValueId global_avg_pool(Graph& graph, const std::string& name, ValueId x);
/// [n, c, h, w] -> [n, c*h*w, 1, 1] in PyTorch's order. Only behind what is stored plainly: the
/// input, or a vector.
ValueId flatten(Graph& graph, const std::string& name, ValueId x);
/// [n, in, 1, 1] -> [n, out, 1, 1]. Weight and bias: uniform in +-1/sqrt(in), as PyTorch's; with a
/// deviation, weights are normal.
ValueId linear(Graph& graph, const std::string& name, ValueId x, int out, bool relu, double deviation = 0);
/// Every stride-th pixel, with channels of zeros behind: see ShortcutOp.
ValueId shortcut(Graph& graph, const std::string& name, ValueId x, int out, int stride);

}  // namespace trainyard
