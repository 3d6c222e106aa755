// Training that stays in a device's memory, beside the same network whose gradients come to the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/models/trainee.h"

namespace trainyard {
namespace {

using test::distance;
using test::Trainee;

constexpr int kClasses = 5;
constexpr int kBatch = 4;
constexpr int kSize = 8;

/// One worker of resnet20.
Trainee trainee(const OptimizerOptions& optimizer, bool on_device) {
  return {make_single(), {.optimizer = optimizer, .on_device = on_device}};
}

class DeviceTraining : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, DeviceTraining, testing::Values("sgd", "lars", "adam", "adamw"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(DeviceTraining, IsTheHosts) {
  const OptimizerOptions optimizer{.kind = GetParam()};
  Trainee host = trainee(optimizer, false);
  Trainee device = trainee(optimizer, true);
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
  Trainee whole = trainee(optimizer, true);
  for (int64_t number = 1; number <= 3; ++number) whole.step(number);

  Trainee first = trainee(optimizer, true);
  for (int64_t number = 1; number <= 2; ++number) first.step(number);
  first.strategy().collect();
  Trainee second = trainee(optimizer, true);
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

TEST(DeviceTrainingOfMicroBatches, AddsThemUpThere) {
  Trainee host = trainee({}, false);
  Trainee device = trainee({}, true);
  for (int64_t number = 1; number <= 2; ++number) {
    host.gradients(number, 1, 3);
    device.gradients(number, 1, 3);
    const double want = host.apply(number, 0.5);
    EXPECT_NEAR(device.apply(number, 0.5), want, 1e-5 * want);
  }
  device.strategy().collect();
  EXPECT_LT(distance(device.network().weights(), host.network().weights()), 1e-6);
}

TEST(DeviceTrainingOfAverages, KeepsThemThereUntilTheyAreFetched) {
  Trainee device = trainee({}, true);
  Network& network = device.network();
  std::vector<float> weights(network.weights().size());
  std::vector<float> statistics(network.running_statistics().size());
  const auto add = [](std::vector<float>& sums, std::span<const float> values, double part) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(sums[i] + part * values[i]);
  };
  // 0 makes copies; then 0.75 of what there was and 0.25 of what is new.
  double decay = 0;
  for (const double part : {0.75, 0.25}) {
    device.step(part == 0.75 ? 1 : 2);
    device.device()->average(decay);
    device.strategy().collect();
    add(weights, network.weights(), part);
    add(statistics, network.running_statistics(), part);
    decay = 0.75;
  }
  const Averages got = device.device()->averages();
  EXPECT_TRUE(std::ranges::all_of(got.weights, [](float value) { return value == 0; })) << "nobody fetched them";
  device.device()->fetch_averages();
  EXPECT_LT(distance(got.weights, weights), 1e-6);
  EXPECT_LT(distance(got.statistics, statistics), 1e-6);
  EXPECT_GT(distance(got.weights, network.weights()), 1e-4);
  // A checkpoint's averages go on from where they were.
  Trainee resumed = trainee({}, true);
  const Averages place = resumed.device()->averages();
  std::ranges::copy(weights, place.weights.begin());
  std::ranges::copy(statistics, place.statistics.begin());
  resumed.device()->averages_changed();
  std::ranges::fill(place.weights, 0.0F);
  resumed.device()->fetch_averages();
  EXPECT_TRUE(std::ranges::equal(place.weights, weights));
}

TEST(DeviceTrainingOfStatistics, TakesThemBackToWhatTheyWere) {
  Trainee device = trainee({}, true);
  Network& network = device.network();
  device.step(1);
  device.strategy().collect();
  const std::vector<float> before(network.running_statistics().begin(), network.running_statistics().end());
  device.device()->keep_statistics();
  device.gradients(2);
  device.strategy().collect();
  EXPECT_FALSE(std::ranges::equal(network.running_statistics(), before));
  device.device()->take_statistics_back();
  device.strategy().collect();
  EXPECT_TRUE(std::ranges::equal(network.running_statistics(), before));
}

/// As when another rank was lost in the midst of a step: what is saved then is the step before it.
TEST(DeviceTrainingOfStatistics, GoesOnFromThemBitForBit) {
  Trainee whole = trainee({}, true);
  Trainee broken = trainee({}, true);
  for (Trainee* one : {&whole, &broken}) one->step(1);
  broken.device()->keep_statistics();
  broken.gradients(2);
  broken.device()->take_statistics_back();
  for (Trainee* one : {&whole, &broken}) {
    one->step(2);
    one->strategy().collect();
  }
  EXPECT_TRUE(std::ranges::equal(broken.network().weights(), whole.network().weights()));
  EXPECT_TRUE(std::ranges::equal(broken.network().running_statistics(), whole.network().running_statistics()));
}

/// As --eval-image-size has it.
TEST(DeviceTrainingBesideASecondNetwork, OfAnotherSizeHasTheBitsOfTrainingAlone) {
  constexpr int kLarge = 12;
  Trainee alone = trainee({}, true);
  Trainee trains = trainee({}, true);
  NetworkOptions options{
      .model = "resnet20", .classes = kClasses, .image_size = kLarge, .batch = kBatch, .training = false, .seed = 9};
  const std::unique_ptr<Network> judges =
      std::make_unique<GraphNetwork>(options, build_model(options.model, kLarge, kClasses), test::make_host_cuda());
  const auto want = test::network("resnet20", kClasses, kLarge, kBatch);
  for (Trainee* one : {&alone, &trains}) one->step(1);
  trains.strategy().collect();
  const test::RandomBatch batch(kBatch, kLarge, kClasses, 99);
  std::vector<float> got(kBatch * kClasses);
  std::vector<float> logits(got.size());
  for (Network* one : {judges.get(), want.get()}) {
    std::ranges::copy(trains.network().weights(), one->weights().begin());
    std::ranges::copy(trains.network().running_statistics(), one->running_statistics().begin());
    one->weights_changed();
    one->evaluate(batch.view(), one == want.get() ? logits : got);
  }
  EXPECT_LT(distance(got, logits), 2e-4);
  for (Trainee* one : {&alone, &trains}) {
    one->step(2);
    one->strategy().collect();
  }
  EXPECT_TRUE(std::ranges::equal(trains.network().weights(), alone.network().weights()));
}

TEST(DeviceTrainingOfScaledLosses, SeesGradientsThatAreNotFinite) {
  Trainee scaled = trainee({}, true);
  const test::RandomBatch batch(kBatch, kSize, kClasses, 7);
  scaled.network().train_step(batch.view(), 1024.0F, nullptr);
  EXPECT_TRUE(scaled.device()->unscale(1024));
  scaled.network().train_step(batch.view(), std::numeric_limits<float>::infinity(), nullptr);
  EXPECT_FALSE(scaled.device()->unscale(1024));
}

TEST(DeviceTrainingOfTheCpu, IsTheHostsOwn) {
  const auto cpu = test::network("mlp", kClasses, kSize, kBatch);
  EXPECT_EQ(cpu->train_on_device({}, {}, {}), nullptr);
}

}  // namespace
}  // namespace trainyard
