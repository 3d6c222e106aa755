// Weights that are no longer numbers, where they stay in a device's memory: found there, without
// bringing them to the host. The device is the host (tests/ops/host/host_cuda.h), which counts copies.
#include "trainer/train/weights/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/models/trainee.h"
#include "tests/ops/host/host_collectives.h"

namespace trainyard {
namespace {

using test::Trainee;

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();

/// resnet20 on one device, after one step.
class FiniteOnADevice : public testing::Test {
 protected:
  FiniteOnADevice() : trainee_(make_single(), {.traffic = &traffic_}) { trainee_.step(1); }

  /// Elements first and last of an arena's tensor become the value, on the device.
  void write(const std::vector<TensorInfo>& infos, std::span<float> arena, const std::string& name, float value) {
    trainee_.fetch();
    for (const TensorInfo& info : infos) {
      if (info.name == name) arena[info.offset] = arena[info.offset + info.size - 1] = value;
    }
    trainee_.network().weights_changed();
    // What the host remembers is good again: it is the device's that counts.
    for (float& number : arena) number = 0;
  }
  void write_weight(const std::string& name, float value) {
    write(network().parameters(), network().weights(), name, value);
  }
  bool finite() { return is_finite(network(), trainee_.device()); }
  Network& network() { return trainee_.network(); }

  test::HostTraffic traffic_;
  Trainee trainee_;
};

TEST_F(FiniteOnADevice, WeightsAreLookedAtThere) {
  const size_t before = traffic_.to_host;
  EXPECT_TRUE(finite());
  const size_t tensors = network().parameters().size() + network().statistics().size();
  EXPECT_EQ(traffic_.to_host - before, tensors * sizeof(double)) << "a sum of each tensor";
  EXPECT_LT(traffic_.to_host - before, network().weights().size_bytes() / 100);
}

TEST_F(FiniteOnADevice, WeightsThatAreNotAreFoundAndNamed) {
  for (const float value : {kNone, kInfinite, -kInfinite}) {
    for (const char* name : {"conv1.weight", "layer2.1.bn1.bias", "fc.bias"}) {
      write_weight(name, value);
      EXPECT_FALSE(finite()) << name << " is " << value;
      EXPECT_EQ(first_not_finite(network(), trainee_.device()), " (" + std::string(name) + " is not finite)");
      write_weight(name, 1);
      EXPECT_TRUE(finite());
    }
  }
}

TEST_F(FiniteOnADevice, TheLargestNumbersAreFinite) {
  trainee_.fetch();
  for (float& weight : network().weights()) weight = -kLargest;
  network().weights_changed();
  EXPECT_TRUE(finite());
}

TEST_F(FiniteOnADevice, RunningStatisticsAreFoundToo) {
  write(network().statistics(), network().running_statistics(), "layer2.1.bn1.running_var", kNone);
  EXPECT_FALSE(finite());
  const std::string where = first_not_finite(network(), trainee_.device());
  EXPECT_NE(where.find("layer2.1.bn1"), std::string::npos) << where;
}

TEST_F(FiniteOnADevice, GradientsThatAreNotAreNamed) {
  trainee_.gradients(2);
  EXPECT_EQ(first_gradient_not_finite(network(), trainee_.device()), "");
  trainee_.gradients(3, kInfinite);
  // What the backward pass reaches first.
  EXPECT_EQ(first_gradient_not_finite(network(), trainee_.device()), " (that of fc.bias is not)");
}

/// CUDA loads their kernels then, for which it may wait for whatever is on the device.
TEST(FiniteOnADeviceInAGroup, WeightsAreLookedAtBeforeThereAreSums) {
  test::HostTraffic traffic;
  size_t before = 0;
  const auto join = [&](const DeviceGroup& group, const test::HostMember& member) {
    before = traffic.to_host;
    return test::join_host_group(group, member);
  };
  Trainee trainee(make_single(), {.groups = {test::new_host_group, join}, .traffic = &traffic});
  EXPECT_EQ(traffic.to_host, 0U);
  trainee.device()->join({.id = trainee.device()->new_group_id(), .who = "rank 0 of 1"});
  const Network& network = trainee.network();
  EXPECT_EQ(before, (network.parameters().size() + network.statistics().size()) * sizeof(double));
}

TEST(FiniteOnADeviceWithoutStatistics, WeightsAreLookedAt) {
  Trainee trainee(make_single(), {.model = "mlp"});
  ASSERT_NE(trainee.device(), nullptr);
  EXPECT_TRUE(is_finite(trainee.network(), trainee.device()));
  trainee.network().weights()[7] = kNone;
  trainee.network().weights_changed();
  EXPECT_FALSE(is_finite(trainee.network(), trainee.device()));
}

/// A parameter server's worker, for one: its weights are the host's.
TEST(FiniteOnTheHost, WeightsOfADeviceThatTheHostUpdatesAreLookedAtHere) {
  test::HostTraffic traffic;
  Trainee trainee(make_single(), {.on_device = false, .traffic = &traffic});
  ASSERT_EQ(trainee.device(), nullptr);
  trainee.step(1);
  const size_t before = traffic.to_host;
  EXPECT_TRUE(is_finite(trainee.network(), trainee.device()));
  trainee.network().weights()[7] = kInfinite;
  EXPECT_FALSE(is_finite(trainee.network(), trainee.device()));
  EXPECT_EQ(first_not_finite(trainee.network(), trainee.device()), " (conv1.weight is not finite)");
  EXPECT_EQ(traffic.to_host, before);
}

}  // namespace
}  // namespace trainyard
