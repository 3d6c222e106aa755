#include "trainer/models/inception.h"

namespace trainyard {

namespace {

// torchvision draws weights with these deviations (its truncation at 2 is 20 of them away and never
// met).
constexpr double kDeviation = 0.1;
constexpr double kAuxiliaryConvDeviation = 0.01;
constexpr double kAuxiliaryLinearDeviation = 0.001;

/// torchvision's BasicConv2d.
ValueId conv(Graph& graph, const std::string& name, ValueId x, Conv2dOptions options) {
  if (options.deviation == 0) options.deviation = kDeviation;
  return batch_norm(graph, name + ".bn", conv2d(graph, name + ".conv", x, options), {.relu = true, .eps = 1e-3});
}

ValueId one(Graph& graph, const std::string& name, ValueId x, int out) { return conv(graph, name, x, {.out = out}); }

/// Padded so that the size stays.
ValueId same(Graph& graph, const std::string& name, ValueId x, int out, int height, int width) {
  return conv(graph, name, x, {.out = out, .kernel = {height, width}, .pad = {height / 2, width / 2}});
}

ValueId halved(Graph& graph, const std::string& name, ValueId x, int out) {
  return conv(graph, name, x, {.out = out, .kernel = {3, 3}, .stride = {2, 2}});
}

ValueId pooled(Graph& graph, const std::string& name, ValueId x, int out) {
  return one(graph, name + ".branch_pool", avg_pool(graph, name + ".pool", x, 3, 1, 1), out);
}

}  // namespace

ValueId inception_a(Graph& graph, const std::string& name, ValueId x, int pool_features) {
  const ValueId branch1x1 = one(graph, name + ".branch1x1", x, 64);
  ValueId branch5x5 = one(graph, name + ".branch5x5_1", x, 48);
  branch5x5 = same(graph, name + ".branch5x5_2", branch5x5, 64, 5, 5);
  ValueId branch3x3 = one(graph, name + ".branch3x3dbl_1", x, 64);
  branch3x3 = same(graph, name + ".branch3x3dbl_2", branch3x3, 96, 3, 3);
  branch3x3 = same(graph, name + ".branch3x3dbl_3", branch3x3, 96, 3, 3);
  return concat(graph, name + ".concat", {branch1x1, branch5x5, branch3x3, pooled(graph, name, x, pool_features)});
}

ValueId inception_b(Graph& graph, const std::string& name, ValueId x) {
  const ValueId branch3x3 = halved(graph, name + ".branch3x3", x, 384);
  ValueId twice = one(graph, name + ".branch3x3dbl_1", x, 64);
  twice = same(graph, name + ".branch3x3dbl_2", twice, 96, 3, 3);
  twice = halved(graph, name + ".branch3x3dbl_3", twice, 96);
  return concat(graph, name + ".concat", {branch3x3, twice, max_pool(graph, name + ".pool", x, 3, 2, 0)});
}

ValueId inception_c(Graph& graph, const std::string& name, ValueId x, int width) {
  const ValueId branch1x1 = one(graph, name + ".branch1x1", x, 192);
  ValueId once = one(graph, name + ".branch7x7_1", x, width);
  once = same(graph, name + ".branch7x7_2", once, width, 1, 7);
  once = same(graph, name + ".branch7x7_3", once, 192, 7, 1);
  ValueId twice = one(graph, name + ".branch7x7dbl_1", x, width);
  twice = same(graph, name + ".branch7x7dbl_2", twice, width, 7, 1);
  twice = same(graph, name + ".branch7x7dbl_3", twice, width, 1, 7);
  twice = same(graph, name + ".branch7x7dbl_4", twice, width, 7, 1);
  twice = same(graph, name + ".branch7x7dbl_5", twice, 192, 1, 7);
  return concat(graph, name + ".concat", {branch1x1, once, twice, pooled(graph, name, x, 192)});
}

ValueId inception_d(Graph& graph, const std::string& name, ValueId x) {
  ValueId branch3x3 = one(graph, name + ".branch3x3_1", x, 192);
  branch3x3 = halved(graph, name + ".branch3x3_2", branch3x3, 320);
  ValueId branch7x7 = one(graph, name + ".branch7x7x3_1", x, 192);
  branch7x7 = same(graph, name + ".branch7x7x3_2", branch7x7, 192, 1, 7);
  branch7x7 = same(graph, name + ".branch7x7x3_3", branch7x7, 192, 7, 1);
  branch7x7 = halved(graph, name + ".branch7x7x3_4", branch7x7, 192);
  return concat(graph, name + ".concat", {branch3x3, branch7x7, max_pool(graph, name + ".pool", x, 3, 2, 0)});
}

ValueId inception_e(Graph& graph, const std::string& name, ValueId x) {
  const ValueId branch1x1 = one(graph, name + ".branch1x1", x, 320);
  const ValueId once = one(graph, name + ".branch3x3_1", x, 384);
  const ValueId once_a = same(graph, name + ".branch3x3_2a", once, 384, 1, 3);
  const ValueId once_b = same(graph, name + ".branch3x3_2b", once, 384, 3, 1);
  ValueId twice = one(graph, name + ".branch3x3dbl_1", x, 448);
  twice = same(graph, name + ".branch3x3dbl_2", twice, 384, 3, 3);
  const ValueId twice_a = same(graph, name + ".branch3x3dbl_3a", twice, 384, 1, 3);
  const ValueId twice_b = same(graph, name + ".branch3x3dbl_3b", twice, 384, 3, 1);
  return concat(graph, name + ".concat", {branch1x1, once_a, once_b, twice_a, twice_b, pooled(graph, name, x, 192)});
}

ValueId inception_auxiliary(Graph& graph, const std::string& name, ValueId x, int classes) {
  x = avg_pool(graph, name + ".pool", x, 5, 3, 0);
  x = one(graph, name + ".conv0", x, 128);
  x = conv(graph, name + ".conv1", x, {.out = 768, .kernel = {5, 5}, .deviation = kAuxiliaryConvDeviation});
  x = global_avg_pool(graph, name + ".avgpool", x);
  return linear(graph, name + ".fc", x, classes, false, kAuxiliaryLinearDeviation);
}

void build_inception_v3(Graph& graph, int image_size, int classes) {
  ValueId x = input(graph, image_size, {0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.5F});
  x = halved(graph, "Conv2d_1a_3x3", x, 32);
  x = conv(graph, "Conv2d_2a_3x3", x, {.out = 32, .kernel = {3, 3}});
  x = same(graph, "Conv2d_2b_3x3", x, 64, 3, 3);
  x = max_pool(graph, "maxpool1", x, 3, 2, 0);
  x = one(graph, "Conv2d_3b_1x1", x, 80);
  x = conv(graph, "Conv2d_4a_3x3", x, {.out = 192, .kernel = {3, 3}});
  x = max_pool(graph, "maxpool2", x, 3, 2, 0);
  x = inception_a(graph, "Mixed_5b", x, 32);
  x = inception_a(graph, "Mixed_5c", x, 64);
  x = inception_a(graph, "Mixed_5d", x, 64);
  x = inception_b(graph, "Mixed_6a", x);
  x = inception_c(graph, "Mixed_6b", x, 128);
  x = inception_c(graph, "Mixed_6c", x, 160);
  x = inception_c(graph, "Mixed_6d", x, 160);
  x = inception_c(graph, "Mixed_6e", x, 192);
  graph.add_auxiliary(inception_auxiliary(graph, "AuxLogits", x, classes), kAuxiliaryWeight);
  x = inception_d(graph, "Mixed_7a", x);
  x = inception_e(graph, "Mixed_7b", x);
  x = inception_e(graph, "Mixed_7c", x);
  x = dropout(graph, "dropout", global_avg_pool(graph, "avgpool", x), 0.5F);
  linear(graph, "fc", x, classes, false, kDeviation);
}

}  // namespace trainyard
