// Networks with convolutions of one pixel that are wide enough for kernels of our own, run on the
// host: sums for batch norm forward, and gradients to the end of their block backward. The same
// training as op by op.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/models/support.h"
#include "tests/models/twin.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"

namespace trainyard {
namespace {

using test::descend;
using test::distance;
using test::RandomBatch;
using test::Twin;

constexpr int kClasses = 5;
constexpr int kBatch = 2;
constexpr int kSize = 16;

/// Blocks as resnet50 has them: two stages, each with a projection and a block behind it.
std::unique_ptr<Graph> blocks() {
  auto graph = std::make_unique<Graph>();
  ValueId x = input(*graph, kSize, {0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F});
  x = batch_norm(*graph, "bn1", conv2d(*graph, "conv1", x, 64, 7, 2), {.relu = true});
  x = bottleneck_block(*graph, "layer1.0", x, 64, 1);
  x = bottleneck_block(*graph, "layer1.1", x, 64, 1);
  x = bottleneck_block(*graph, "layer1.2", x, 64, 1);
  x = bottleneck_block(*graph, "layer2.0", x, 128, 2);
  x = bottleneck_block(*graph, "layer2.1", x, 128, 1);
  linear(*graph, "fc", global_avg_pool(*graph, "avgpool", x), kClasses, false);
  return graph;
}

/// Two blocks, of which the first adds what is made behind its last convolution and is read before.
std::unique_ptr<Graph> late_residual() {
  auto graph = std::make_unique<Graph>();
  const auto normalised = [&](const std::string& name, ValueId x, int out, int kernel, const BatchNormOptions& norm) {
    return batch_norm(*graph, name + ".bn", conv2d(*graph, name, x, out, kernel, 1), norm);
  };
  const ValueId image = input(*graph, kSize, {0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F});
  const ValueId x = normalised("stem", image, 64, 3, {.relu = true});
  const ValueId hidden = normalised("a.2", normalised("a.1", x, 64, 1, {.relu = true}), 64, 3, {.relu = true});
  const ValueId wide = conv2d(*graph, "a.3", hidden, 256, 1, 1);
  const ValueId late = normalised("late", x, 256, 1, {});
  const ValueId beside = normalised("beside", late, 256, 1, {});
  const ValueId first = batch_norm(*graph, "a.3.bn", wide, {.relu = true, .residual = late});
  const ValueId again = normalised("b.2", normalised("b.1", first, 64, 1, {.relu = true}), 64, 3, {.relu = true});
  const ValueId second = normalised("b.3", again, 256, 1, {.relu = true, .residual = first});
  const ValueId last = normalised("c", second, 256, 1, {.relu = true, .residual = beside});
  linear(*graph, "fc", global_avg_pool(*graph, "avgpool", last), kClasses, false);
  return graph;
}

std::unique_ptr<Network> on(std::unique_ptr<Backend> backend, Precision precision, StatisticsReducer* reducer = nullptr,
                            std::unique_ptr<Graph> graph = blocks()) {
  const NetworkOptions options{.model = "blocks",
                               .classes = kClasses,
                               .image_size = kSize,
                               .batch = kBatch,
                               .sync_batch_norm = reducer,
                               .precision = precision};
  return std::make_unique<GraphNetwork>(options, std::move(graph), std::move(backend));
}

size_t launches(const std::string& kernel, test::HostKernels kernels, std::unique_ptr<Graph> graph = blocks()) {
  test::Tape::Counted counted;
  kernels.counted = [&counted](const auto& now) { counted = now; };
  const auto network = on(test::make_host_cuda_with(std::move(kernels)), Precision::bf16, nullptr, std::move(graph));
  network->train_step(RandomBatch(kBatch, kSize, kClasses, 9).view(), 1, nullptr);
  return counted[kernel].first;
}

TEST(FusedProducts, EndTheGradientsOfBlocks) {
  // Inputs of layer1.1, layer1.2, layer2.0 and layer2.1: of two the block before has a projection.
  EXPECT_EQ(launches("convolution: gradient of a block", {}), 4U);
  // The last convolution of each block.
  EXPECT_EQ(launches("convolution: gradient of a batch norm", {}), 5U);
  EXPECT_EQ(launches("convolution: forward with sums", {}), 11U);
  // Of those, all but the last block's, whose gradient has no end: their batch norms are merged.
  EXPECT_EQ(launches("convolution: weight gradients with a batch norm's", {}), 4U);
  for (const char* kernel : {"convolution: gradient of a block", "convolution: gradient of a batch norm",
                             "convolution: forward with sums", "convolution: weight gradients with a batch norm's"}) {
    EXPECT_EQ(launches(kernel, {.apart = true}), 0U) << kernel;
  }
}

/// Distances of what one step leaves from what it leaves on the CPU in fp32.
struct Distances {
  double gradients, statistics, weights;
};

Distances beside_fp32(Precision precision, test::HostKernels kernels) {
  const RandomBatch batch(kBatch, kSize, kClasses, 12);
  const auto device = on(test::make_host_cuda_with(std::move(kernels)), precision);
  const auto cpu = on(make_cpu_backend(), Precision::fp32);
  for (Network* network : {device.get(), cpu.get()}) {
    network->train_step(batch.view(), 1.0F / kBatch, nullptr);
    descend(*network, 0.02F);
  }
  return {distance(device->gradients(), cpu->gradients()),
          distance(device->running_statistics(), cpu->running_statistics()),
          distance(device->weights(), cpu->weights())};
}

TEST(FusedProducts, RoundNoMoreThanOpByOp) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const Distances fused = beside_fp32(precision, {});
    const Distances apart = beside_fp32(precision, {.apart = true});
    EXPECT_GT(fused.gradients, 1e-5) << "it is not computed in " << precision_name(precision);
    // Which numbers are rounded differs, so either may be the nearer by chance.
    EXPECT_LT(fused.gradients, 1.25 * apart.gradients) << precision_name(precision);
    EXPECT_LT(fused.statistics, 1.25 * apart.statistics) << precision_name(precision);
    EXPECT_LT(fused.weights, 1.25 * apart.weights) << precision_name(precision);
  }
}

TEST(FusedProducts, MergeNoBatchNormWhoseResidualIsMadeBehind) {
  EXPECT_EQ(launches("convolution: gradient of a block", {}, late_residual()), 1U) << "that would be the one";
  EXPECT_EQ(launches("convolution: weight gradients with a batch norm's", {}, late_residual()), 0U);
  const RandomBatch batch(kBatch, kSize, kClasses, 12);
  const auto device = on(test::make_host_cuda(), Precision::fp16, nullptr, late_residual());
  const auto cpu = on(make_cpu_backend(), Precision::fp32, nullptr, late_residual());
  for (Network* network : {device.get(), cpu.get()}) network->train_step(batch.view(), 1.0F / kBatch, nullptr);
  EXPECT_LT(distance(device->gradients(), cpu->gradients()), 0.02);
}

TEST(FusedProducts, SumOverRanksInTheOrderOfOpByOp) {
  const RandomBatch batch(kBatch, kSize, kClasses, 11);
  Twin fused;
  Twin apart;
  const auto got = on(test::make_host_cuda(), Precision::fp16, &fused);
  const auto want = on(test::make_host_cuda_with({.apart = true}), Precision::fp16, &apart);
  got->train_step(batch.view(), 0.25F, nullptr);
  want->train_step(batch.view(), 0.25F, nullptr);
  EXPECT_EQ(fused.counts, apart.counts) << "ranks whose kernels differ would wait for one another";
  EXPECT_GT(fused.counts.size(), 30U);
  EXPECT_LT(distance(got->gradients(), want->gradients()), 0.1);
}

TEST(FusedProducts, GiveTheSameBitsForEveryOrderOfBlocks) {
  const RandomBatch batch(kBatch, kSize, kClasses, 13);
  std::vector<std::vector<float>> weights;
  for (const bool forwards : {false, true}) {
    const auto network = on(test::make_host_cuda_with({.forwards = forwards}), Precision::bf16);
    for (int step = 0; step < 2; ++step) {
      network->train_step(batch.view(), 1.0F / kBatch, nullptr);
      descend(*network, 0.02F);
    }
    const auto all = network->weights();
    weights.emplace_back(all.begin(), all.end());
  }
  EXPECT_EQ(weights[0], weights[1]);
}

}  // namespace
}  // namespace trainyard
