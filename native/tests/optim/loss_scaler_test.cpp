// The scale's rule, step by step.
#include "trainer/optim/loss_scaler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/error.h"

namespace trainyard {
namespace {

TEST(LossScaler, BacksOffAtOnceAndGrowsAfterGoodSteps) {
  LossScaler scaler({.scale = 1024, .growth_interval = 3});
  scaler.update(true);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1024);
  EXPECT_EQ(scaler.good_steps(), 2);
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 512);
  EXPECT_EQ(scaler.good_steps(), 0) << "a bad step begins the count anew";
  for (int i = 0; i < 3; ++i) scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1024);
  EXPECT_EQ(scaler.good_steps(), 0);
  EXPECT_EQ(scaler.skipped(), 1);
}

TEST(LossScaler, NeverGrowsOutOfFloat) {
  LossScaler scaler({.scale = 0x1p127F, .growth_interval = 1});
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 0x1p127F);
}

TEST(LossScaler, StartsAsPyTorchs) {
  const LossScaler scaler({});
  EXPECT_EQ(scaler.scale(), 65536);
}

TEST(LossScaler, DividesAndFindsWhatIsNotFinite) {
  const LossScaler scaler({.scale = 4});
  std::vector<float> gradients(100'000, 2.0F);
  EXPECT_TRUE(scaler.unscale(gradients));
  for (const float g : gradients) ASSERT_EQ(g, 0.5F);
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float bad : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN()}) {
    for (const size_t at : {size_t{0}, size_t{77'777}, gradients.size() - 1}) {
      std::vector<float> some(gradients);
      some[at] = bad;
      EXPECT_FALSE(scaler.unscale(some)) << bad << " at " << at;
    }
  }
  const LossScaler small({.scale = 0x1p-10F});
  std::vector<float> large{std::numeric_limits<float>::max()};
  EXPECT_FALSE(small.unscale(large)) << "finite before, infinite after";
}

TEST(LossScaler, RefusesNumbersThatMakeNoSense) {
  EXPECT_THROW(LossScaler({.scale = 0}), Error);
  EXPECT_THROW(LossScaler({.growth = 1}), Error);
  EXPECT_THROW(LossScaler({.backoff = 1}), Error);
  EXPECT_THROW(LossScaler({.growth_interval = 0}), Error);
}

TEST(LossScaler, GoesOnFromACheckpointAsIfItHadNotEnded) {
  const LossScalerOptions options{.scale = 1024, .growth_interval = 3};
  LossScaler whole(options);
  for (const bool good : {true, false, true, true}) whole.update(good);
  LossScaler resumed(options);
  resumed.restore(whole.state());
  for (const bool good : {true, true, false, true, true, true}) {
    whole.update(good);
    resumed.update(good);
    EXPECT_EQ(resumed.scale(), whole.scale());
    EXPECT_EQ(resumed.good_steps(), whole.good_steps());
    EXPECT_EQ(resumed.skipped(), whole.skipped());
  }
  for (const LossScalerState& wrong :
       {LossScalerState{0, 0, 0}, {INFINITY, 0, 0}, {1, -1, 0}, {1, 0, -1}, {NAN, 0, 0}}) {
    EXPECT_THROW(resumed.restore(wrong), Error);
  }
}

}  // namespace
}  // namespace trainyard
