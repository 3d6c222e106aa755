// Inception's parts in a small network: branches, pooling, the auxiliary head and dropout, on both
// back ends.
#include "trainer/models/inception.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.h"
#include "tests/models/slopes.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/models/graph_network.h"

namespace trainyard {
namespace {

using test::distance;
using test::RandomBatch;

constexpr int kSize = 35;
constexpr int kClasses = 4;
constexpr int kBatch = 4;

std::unique_ptr<Network> small(std::unique_ptr<Backend> backend, std::optional<float> dropout_rate, uint64_t seed = 5) {
  auto graph = std::make_unique<Graph>();
  ValueId x = input(*graph, kSize, {0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.5F});
  x = conv2d(*graph, "stem", x, {.out = 8, .kernel = {3, 3}, .stride = {2, 2}});
  x = inception_a(*graph, "mixed", batch_norm(*graph, "norm", x, {.relu = true}), 16);
  graph->add_auxiliary(inception_auxiliary(*graph, "AuxLogits", x, kClasses), kAuxiliaryWeight);
  x = max_pool(*graph, "maxpool", x, 3, 2, 0);
  x = dropout(*graph, "dropout", global_avg_pool(*graph, "avgpool", x), 0.5F);
  linear(*graph, "fc", x, kClasses, false);
  NetworkOptions options{.model = "small", .classes = kClasses, .image_size = kSize, .batch = kBatch};
  options.seed = seed;
  options.dropout = dropout_rate;
  auto net = std::make_unique<GraphNetwork>(options, std::move(graph), std::move(backend));
  // torchvision's first weights of this head are so small that its loss would move by roundings
  // only.
  for (const TensorInfo& info : net->parameters()) {
    if (info.name != "AuxLogits.fc.weight") continue;
    for (float& w : net->weights().subspan(info.offset, info.size)) w *= 100;
  }
  net->weights_changed();
  return net;
}

TEST(Inception, HasTheSlopesOfItsLossThroughBothHeadsAndDropout) {
  const auto net = small(make_cpu_backend(), std::nullopt);
  // Every fourth tensor: each branch has three, so all kinds and all branches are met.
  test::expect_slopes_of_the_loss(*net, RandomBatch(kBatch, kSize, kClasses, 21), 4);
}

TEST(Inception, TrainsOnTheDevicesOpsAsOnTheCpu) {
  const RandomBatch batch(kBatch, kSize, kClasses, 22);
  const auto device = small(test::make_host_cuda(), std::nullopt);
  const auto cpu = small(make_cpu_backend(), std::nullopt);
  const StepResult got = device->train_step(batch.view(), 0.25F, nullptr);
  const StepResult want = cpu->train_step(batch.view(), 0.25F, nullptr);
  EXPECT_NEAR(got.loss_sum, want.loss_sum, 2e-5 * want.loss_sum);
  EXPECT_LT(distance(device->gradients(), cpu->gradients()), 2e-5);
  EXPECT_LT(distance(device->running_statistics(), cpu->running_statistics()), 2e-5);
  std::vector<float> logits(kBatch * kClasses);
  std::vector<float> expected(logits.size());
  device->evaluate(batch.view(), logits);
  cpu->evaluate(batch.view(), expected);
  EXPECT_LT(distance(logits, expected), 2e-5);
}

TEST(Inception, AddsTheAuxiliaryLossInTraining) {
  const RandomBatch batch(kBatch, kSize, kClasses, 23);
  const auto net = small(make_cpu_backend(), 0.0F);
  const double both = net->train_step(batch.view(), 0.25F, nullptr).loss_sum;
  // Logits of zero for the auxiliary head are a loss of log(classes) an image.
  for (const TensorInfo& info : net->parameters()) {
    if (info.name.starts_with("AuxLogits.fc.")) std::ranges::fill(net->weights().subspan(info.offset, info.size), 0.0F);
  }
  net->weights_changed();
  const double flat = net->train_step(batch.view(), 0.25F, nullptr).loss_sum;
  EXPECT_NE(both, flat);
  for (const TensorInfo& info : net->parameters()) {
    if (info.name.starts_with("fc.")) std::ranges::fill(net->weights().subspan(info.offset, info.size), 0.0F);
  }
  net->weights_changed();
  const double log_classes = std::log(double{kClasses}) * kBatch;
  EXPECT_NEAR(net->train_step(batch.view(), 0.25F, nullptr).loss_sum, 1.4 * log_classes, 1e-5 * log_classes);
  std::vector<float> logits(kBatch * kClasses);
  EXPECT_NEAR(net->evaluate(batch.view(), logits).loss_sum, log_classes, 1e-5 * log_classes);
}

TEST(Inception, DropsOutByImageAndSeedInTrainingOnly) {
  const RandomBatch batch(kBatch, kSize, kClasses, 24);
  const auto loss = [&](Network& net, uint64_t first_image) {
    BatchView view = batch.view();
    view.first_image = first_image;
    return net.train_step(view, 0.25F, nullptr).loss_sum;
  };
  const auto net = small(make_cpu_backend(), std::nullopt);
  const double once = loss(*net, 8);
  EXPECT_NE(once, loss(*net, 12));
  EXPECT_EQ(once, loss(*net, 8));
  const auto again = small(make_cpu_backend(), std::nullopt);
  EXPECT_EQ(once, loss(*again, 8));
  const auto none = small(make_cpu_backend(), 0.0F);
  EXPECT_EQ(loss(*none, 8), loss(*none, 12));
  // Another seed draws another mask for the same weights.
  const auto other = small(make_cpu_backend(), std::nullopt, 6);
  std::copy(net->weights().begin(), net->weights().end(), other->weights().begin());
  other->weights_changed();
  EXPECT_NE(once, loss(*other, 8));
  std::vector<float> logits(kBatch * kClasses);
  std::vector<float> expected(logits.size());
  other->evaluate(batch.view(), logits);
  std::copy(net->weights().begin(), net->weights().end(), none->weights().begin());
  std::copy(other->running_statistics().begin(), other->running_statistics().end(), none->running_statistics().begin());
  none->weights_changed();
  none->evaluate(batch.view(), expected);
  EXPECT_EQ(logits, expected);
}

TEST(Inception, MarksBothHeadsAndNoOther) {
  const auto net = small(make_cpu_backend(), std::nullopt);
  std::set<std::string> heads;
  for (const TensorInfo& info : net->parameters()) {
    if (info.head) heads.insert(info.name);
  }
  EXPECT_EQ(heads, (std::set<std::string>{"AuxLogits.fc.bias", "AuxLogits.fc.weight", "fc.bias", "fc.weight"}));
}

TEST(Inception, IsAsLargeAsTorchvisionsAndNeedsItsPixels) {
  NetworkOptions options{.model = "inception_v3", .classes = 1000, .image_size = 299, .batch = 1, .training = false};
  // torchvision's documentation of its weights.
  EXPECT_EQ(make_network(options)->weights().size(), 27161264U);
  const auto code_of = [](const NetworkOptions& wanted) {
    try {
      make_network(wanted);
    } catch (const Error& error) {
      return error.code();
    }
    return Exit::ok;
  };
  options.image_size = 298;
  EXPECT_EQ(code_of(options), Exit::usage);
  NetworkOptions without{.model = "resnet20", .classes = 3, .image_size = 32, .batch = 1};
  without.dropout = 0.5F;
  EXPECT_EQ(code_of(without), Exit::usage);
}

}  // namespace
}  // namespace trainyard
