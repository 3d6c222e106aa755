// Whole networks whose ops the CUDA back end computes several at once, run on the host: the same
// training as by the CPU, and as by the same back end with each op by itself.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/models/projected.h"
#include "tests/models/support.h"
#include "tests/models/twin.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/models/graph_network.h"
#include "trainer/models/memory/batch_fit.h"

namespace trainyard {
namespace {

using test::descend;
using test::distance;
using test::RandomBatch;
using test::Twin;

constexpr int kClasses = 5;
constexpr int kBatch = 4;
constexpr int kSize = 32;

std::unique_ptr<Network> on(std::unique_ptr<Backend> backend, StatisticsReducer* reducer = nullptr,
                            Precision precision = Precision::fp32) {
  const NetworkOptions options{.model = "projected",
                               .classes = kClasses,
                               .image_size = kSize,
                               .batch = kBatch,
                               .sync_batch_norm = reducer,
                               .precision = precision};
  return std::make_unique<GraphNetwork>(options, test::projected(kSize, kClasses), std::move(backend));
}

/// The kernels that a training step launches.
test::Tape::Counted kernels_of_a_step(test::HostKernels kernels) {
  test::Tape::Counted counted;
  kernels.counted = [&counted](const auto& now) { counted = now; };
  const auto network = on(test::make_host_cuda_with(std::move(kernels)));
  network->train_step(RandomBatch(kBatch, kSize, kClasses, 9).view(), 1, nullptr);
  return counted;
}

size_t launches(const test::Tape::Counted& counted, const std::string& begin) {
  size_t sum = 0;
  for (const auto& [kernel, figures] : counted) sum += kernel.starts_with(begin) ? figures.first : 0;
  return sum;
}

TEST(FusedNetwork, ComputesBothBatchNormsOfABlockAtOnce) {
  const std::string kernels = "batch norms of block and projection";
  // The basic block and the first bottleneck have a projection.
  EXPECT_EQ(launches(kernels_of_a_step({}), kernels), 6U);
  EXPECT_EQ(launches(kernels_of_a_step({.apart = true}), kernels), 0U);
}

TEST(FusedNetwork, PoolsTheStemAsItIsNormalised) {
  const std::string kernels = "batch norm, ReLU, max pooling";
  EXPECT_EQ(launches(kernels_of_a_step({}), kernels), 2U);
  EXPECT_EQ(launches(kernels_of_a_step({}), "max pooling"), 0U);
  EXPECT_EQ(launches(kernels_of_a_step({}), "sum of two gradients"), 0U) << "it takes both gradients of its output";
  EXPECT_EQ(launches(kernels_of_a_step({.apart = true}), kernels), 0U);
}

TEST(FusedNetwork, MovesFewerBytesInFewerLaunches) {
  const auto fused = kernels_of_a_step({});
  const auto apart = kernels_of_a_step({.apart = true});
  const auto bytes = [](const test::Tape::Counted& counted) {
    size_t sum = 0;
    for (const auto& [kernel, figures] : counted) sum += figures.second;
    return sum;
  };
  EXPECT_LT(launches(fused, ""), launches(apart, ""));
  EXPECT_LT(bytes(fused), bytes(apart));
}

void expect_same_training(Network& got, Network& want) {
  const RandomBatch batch(kBatch, kSize, kClasses, 9);
  // Both round in fp32; every step multiplies what one rounding of the step before has become.
  double tolerance = 2e-5;
  for (int step = 0; step < 3; ++step, tolerance *= 10) {
    size_t announced = got.gradients().size();
    const StepResult result = got.train_step(batch.view(), 1.0F / kBatch, [&](size_t begin, size_t end) {
      EXPECT_EQ(end, announced);
      announced = begin;
    });
    const StepResult wanted = want.train_step(batch.view(), 1.0F / kBatch, nullptr);
    EXPECT_EQ(announced, 0U);
    EXPECT_NEAR(result.loss_sum, wanted.loss_sum, tolerance * wanted.loss_sum) << step;
    EXPECT_LT(distance(got.gradients(), want.gradients()), tolerance) << step;
    EXPECT_LT(distance(got.running_statistics(), want.running_statistics()), tolerance) << step;
    descend(got, 0.02F);
    descend(want, 0.02F);
    EXPECT_LT(distance(got.weights(), want.weights()), tolerance) << step;
  }
  std::vector<float> logits(size_t{kBatch} * kClasses);
  std::vector<float> wanted(logits.size());
  got.evaluate(batch.view(), logits);
  want.evaluate(batch.view(), wanted);
  EXPECT_LT(distance(logits, wanted), tolerance);
}

TEST(FusedNetwork, TrainsAsTheCpuDoes) { expect_same_training(*on(test::make_host_cuda()), *on(make_cpu_backend())); }

TEST(FusedNetwork, TrainsAsOpByOp) {
  expect_same_training(*on(test::make_host_cuda()), *on(test::make_host_cuda_with({.apart = true})));
}

TEST(FusedNetwork, SumsOverRanksInTheOrderOfOpByOp) {
  const RandomBatch batch(kBatch, kSize, kClasses, 11);
  Twin fused;
  Twin apart;
  const auto got = on(test::make_host_cuda(), &fused);
  const auto want = on(test::make_host_cuda_with({.apart = true}), &apart);
  const double loss = got->train_step(batch.view(), 0.25F, nullptr).loss_sum;
  EXPECT_NEAR(loss, want->train_step(batch.view(), 0.25F, nullptr).loss_sum, 2e-5 * loss);
  EXPECT_EQ(fused.counts, apart.counts) << "ranks whose kernels differ would wait for one another";
  EXPECT_EQ(fused.counts.size(), 22U);
  EXPECT_LT(distance(got->gradients(), want->gradients()), 2e-5);
  EXPECT_LT(distance(got->running_statistics(), want->running_statistics()), 1e-6);
}

TEST(FusedNetwork, TakesHardlyMoreMemoryThanOpByOp) {
  for (const DType storage : {DType::f32, DType::bf16, DType::f16}) {
    const auto bytes = [&](test::HostKernels kernels) {
      const auto backend = test::make_host_cuda_with(std::move(kernels));
      const auto graph = build_model("resnet50", 224, 1000);
      return program_bytes(*graph, *backend, {.batch = 64, .training = true, .storage = storage}).value();
    };
    // The stem keeps the x that won each window. Sums of products and transposed weights take the
    // same at every batch.
    EXPECT_LT(static_cast<double>(bytes({})), 1.01 * static_cast<double>(bytes({.apart = true})) + 8e6);
  }
}

TEST(FusedNetwork, TakesHardlyMoreMemoryForOpsBesideOthers) {
  for (const int batch : {64, 256}) {
    const auto bytes = [&](bool beside) {
      const auto backend = test::make_host_cuda_with({.beside = beside});
      const auto graph = build_model("resnet50", 224, 1000);
      return program_bytes(*graph, *backend, {.batch = batch, .training = true, .storage = DType::bf16}).value();
    };
    EXPECT_LT(static_cast<double>(bytes(true)), 1.02 * static_cast<double>(bytes(false))) << batch;
  }
}

/// Distances of one step's gradients and logits from the CPU's in fp32.
std::pair<double, double> beside_fp32(Precision precision, test::HostKernels kernels) {
  const RandomBatch batch(kBatch, kSize, kClasses, 12);
  const auto device = on(test::make_host_cuda_with(std::move(kernels)), nullptr, precision);
  const auto cpu = on(make_cpu_backend());
  device->train_step(batch.view(), 1.0F / kBatch, nullptr);
  cpu->train_step(batch.view(), 1.0F / kBatch, nullptr);
  std::vector<float> got(size_t{kBatch} * kClasses);
  std::vector<float> want(got.size());
  device->evaluate(batch.view(), got);
  cpu->evaluate(batch.view(), want);
  return {distance(device->gradients(), cpu->gradients()), distance(got, want)};
}

TEST(FusedNetwork, RoundsNoMoreThanOpByOp) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const auto [gradients, logits] = beside_fp32(precision, {});
    const auto [gradients_apart, logits_apart] = beside_fp32(precision, {.apart = true});
    EXPECT_GT(logits, 1e-5) << "it is not computed in " << precision_name(precision);
    // Which numbers are rounded differs, so either may be the nearer by chance.
    EXPECT_LT(gradients, 1.25 * gradients_apart) << precision_name(precision);
    EXPECT_LT(logits, 1.25 * logits_apart) << precision_name(precision);
  }
}

}  // namespace
}  // namespace trainyard
