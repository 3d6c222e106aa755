// Training that stays in a device's memory, beside the same network whose gradients come to the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/models/support.h"
#include "tests/ops/host_cuda.h"
#include "trainer/comm/communicator.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/strategies/mirrored.h"

namespace trainyard {
namespace {

constexpr int kClasses = 5;
constexpr int kBatch = 4;
constexpr int kSize = 8;

/// A network on the device's arithmetic with a strategy of one worker.
class Trainee {
 public:
  Trainee(const OptimizerOptions& optimizer, bool on_device) : alone_(make_single()) {
    NetworkOptions options;
    options.model = "resnet20";
    options.classes = kClasses;
    options.image_size = kSize;
    options.batch = kBatch;
    auto graph = std::make_unique<Graph>();
    build_cifar_resnet(*graph, 3, kSize, kClasses);
    network_ = std::make_unique<GraphNetwork>(options, std::move(graph), test::make_host_cuda());
    Variables variables{network_->weights(), network_->gradients(), {}};
    for (const TensorInfo& tensor : network_->parameters()) {
      variables.ranges.push_back({.offset = tensor.offset, .size = tensor.size, .adapt = tensor.decay});
    }
    if (on_device) {
      variables.on_device = [this](const OptimizerOptions& of, const std::vector<ParameterRange>& ranges,
                                   const std::vector<std::string>& suffixes) {
        return device_ = network_->train_on_device(of, ranges, suffixes);
      };
    }
    strategy_ = make_mirrored(*alone_, variables, optimizer);
    strategy_->distribute();
    network_->weights_changed();
  }

  double step(int64_t number, double clip = 0) {
    const test::RandomBatch batch(kBatch, kSize, kClasses, static_cast<uint64_t>(number));
    network_->train_step(batch.view(), 1.0F / kBatch, [this](size_t begin, size_t) { strategy_->ready(begin); });
    StepSums sums;
    strategy_->sum(sums);
    const double norm = strategy_->apply({.number = number, .lr = 0.05F, .clip_norm = clip}, sums);
    if (device_ == nullptr) network_->weights_changed();
    return norm;
  }

  Network& network() { return *network_; }
  Strategy& strategy() { return *strategy_; }
  DeviceOptimizer* device() { return device_; }

 private:
  std::unique_ptr<Communicator> alone_;
  std::unique_ptr<Network> network_;
  DeviceOptimizer* device_ = nullptr;
  std::unique_ptr<Strategy> strategy_;
};

double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double length = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    length += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / length);
}

class DeviceTraining : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, DeviceTraining, testing::Values("sgd", "lars", "adam"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(DeviceTraining, IsTheHosts) {
  const OptimizerOptions optimizer{.kind = GetParam()};
  Trainee host(optimizer, false);
  Trainee device(optimizer, true);
  ASSERT_EQ(host.device(), nullptr);
  ASSERT_NE(device.device(), nullptr);
  const std::vector<float> before(device.network().weights().begin(), device.network().weights().end());
  for (int64_t number = 1; number <= 2; ++number) {
    const double want = host.step(number, 0.5);
    EXPECT_NEAR(device.step(number, 0.5), want, 1e-4 * want);
  }
  EXPECT_TRUE(std::equal(before.begin(), before.end(), device.network().weights().begin())) << "nobody fetched them";
  device.strategy().collect();
  const double moved = distance(before, host.network().weights());
  EXPECT_GT(moved, 1e-5);
  EXPECT_LT(distance(device.network().weights(), host.network().weights()), 0.01 * moved);
  const auto got = device.strategy().state();
  const auto want = host.strategy().state();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].suffix, want[i].suffix);
    EXPECT_LT(distance(got[i].values, want[i].values), 2e-3) << got[i].suffix;
  }
  // What an evaluation sees is of the same weights.
  const test::RandomBatch batch(kBatch, kSize, kClasses, 99);
  std::vector<float> a(kBatch * kClasses);
  std::vector<float> b(a.size());
  device.network().evaluate(batch.view(), a);
  host.network().evaluate(batch.view(), b);
  EXPECT_LT(distance(a, b), 2e-3);
}

TEST_P(DeviceTraining, GoesOnFromACheckpointBitForBit) {
  const OptimizerOptions optimizer{.kind = GetParam()};
  Trainee whole(optimizer, true);
  for (int64_t number = 1; number <= 3; ++number) whole.step(number);

  Trainee first(optimizer, true);
  for (int64_t number = 1; number <= 2; ++number) first.step(number);
  first.strategy().collect();
  Trainee second(optimizer, true);
  std::ranges::copy(first.network().weights(), second.network().weights().begin());
  std::ranges::copy(first.network().running_statistics(), second.network().running_statistics().begin());
  const auto from = first.strategy().state();
  const auto to = second.strategy().state();
  for (size_t i = 0; i < from.size(); ++i) std::ranges::copy(from[i].values, to[i].values.begin());
  second.strategy().distribute();
  second.network().weights_changed();
  second.step(3);
  whole.strategy().collect();
  second.strategy().collect();
  EXPECT_TRUE(std::ranges::equal(whole.network().weights(), second.network().weights()));
  EXPECT_TRUE(std::ranges::equal(whole.network().running_statistics(), second.network().running_statistics()));
}

TEST(DeviceTrainingOfScaledLosses, SeesGradientsThatAreNotFinite) {
  Trainee trainee({}, true);
  const test::RandomBatch batch(kBatch, kSize, kClasses, 7);
  trainee.network().train_step(batch.view(), 1024.0F, nullptr);
  EXPECT_TRUE(trainee.device()->unscale(1024));
  trainee.network().train_step(batch.view(), std::numeric_limits<float>::infinity(), nullptr);
  EXPECT_FALSE(trainee.device()->unscale(1024));
}

TEST(DeviceTrainingOfTheCpu, IsTheHostsOwn) {
  const auto cpu = test::network("mlp", kClasses, kSize, kBatch);
  EXPECT_EQ(cpu->train_on_device({}, {}, {}), nullptr);
}

}  // namespace
}  // namespace trainyard
