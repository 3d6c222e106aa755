// Whole steps with a scaled loss: on the CPU in fp32 and bf16, where the scale changes no bit,
// until it is too large.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "tests/models/support.h"
#include "tests/train/pair.h"
#include "trainer/base/parallel.h"
#include "trainer/comm/communicator.h"
#include "trainer/train/loop/training_step.h"
#include "trainer/train/weights/finite.h"

namespace trainyard {
namespace {

constexpr int kClasses = 4;

NetworkOptions options_of(const char* model, Precision precision) {
  return {.model = model, .classes = kClasses, .image_size = 16, .batch = 8, .seed = 5, .precision = precision};
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

void enlarge(Network& network, float factor) {
  for (float& weight : network.weights()) weight *= factor;
  network.weights_changed();
}

void expect_same_bits(Precision precision) {
  const auto alone = make_single();
  for (const char* model : {"mlp", "resnet20"}) {
    TrainingStep plain(*alone, options_of(model, precision), {.clip_norm = 0.5});
    TrainingStep scaled(*alone, options_of(model, precision),
                        {.loss_scaling = LossScalerOptions{.scale = 1024, .growth_interval = 2}, .clip_norm = 0.5});
    for (int64_t number = 1; number <= 4; ++number) {
      const test::RandomBatch batch(8, 16, kClasses, static_cast<uint64_t>(number));
      const StepOutcome want = plain.run(batch.view(), number, 0.05, {});
      const StepOutcome got = scaled.run(batch.view(), number, 0.05, {});
      EXPECT_FALSE(got.skipped);
      EXPECT_EQ(got.loss, want.loss);
      EXPECT_EQ(got.gradient_norm, want.gradient_norm);
    }
    EXPECT_EQ(scaled.loss_scaler()->scale(), 4096) << "grown twice";
    EXPECT_EQ(copy(scaled.network().weights()), copy(plain.network().weights()))
        << model << " in " << precision_name(precision);
  }
}

TEST(LossScaling, ChangesNoBitWhereNothingOverflows) { expect_same_bits(Precision::fp32); }

TEST(LossScaling, ChangesNoBitOfBFloat16WhereNothingOverflows) {
  if (!test::has_avx512()) GTEST_SKIP() << test::kNeedsAvx512;
  expect_same_bits(Precision::bf16);
}

TEST(LossScaling, LeavesOutStepsThatOverflowUntilTheyFit) {
  const auto alone = make_single();
  const OptimizerOptions adam{.kind = "adam"};  // counts its steps
  TrainingStep plain(*alone, options_of("mlp", Precision::fp32), {.optimizer = adam});
  TrainingStep scaled(*alone, options_of("mlp", Precision::fp32),
                      {.optimizer = adam, .loss_scaling = LossScalerOptions{.scale = 0x1p127F}});
  // So that gradients are large while the loss is finite.
  enlarge(plain.network(), 64);
  enlarge(scaled.network(), 64);
  int64_t applied = 0;
  float scale = 0x1p127F;
  for (int64_t number = 1; applied < 3; ++number) {
    ASSERT_LT(number, 60);
    const test::RandomBatch batch(8, 16, kClasses, static_cast<uint64_t>(number));
    const std::vector<float> before = copy(scaled.network().weights());
    const std::vector<float> state = copy(scaled.strategy().state().front().values);
    if (scaled.run(batch.view(), number, 0.01, {}).skipped) {
      scale /= 2;
      EXPECT_EQ(copy(scaled.network().weights()), before);
      EXPECT_EQ(copy(scaled.strategy().state().front().values), state);
    } else {
      plain.run(batch.view(), ++applied, 0.01, {});
    }
    ASSERT_EQ(scaled.loss_scaler()->scale(), scale);
  }
  EXPECT_GT(scaled.loss_scaler()->skipped(), 0);
  EXPECT_EQ(copy(scaled.network().weights()), copy(plain.network().weights()));
}

TEST(LossScaling, EndsWhereNoScaleHelps) {
  const auto alone = make_single();
  TrainingStep step(*alone, options_of("mlp", Precision::fp32),
                    {.loss_scaling = LossScalerOptions{.scale = 0x1p100F, .backoff = 0x1p-126F}});
  enlarge(step.network(), 1e6F);
  const test::RandomBatch batch(8, 16, kClasses, 1);
  try {
    step.run(batch.view(), 6, 0.01, {});
    FAIL() << "a scale below any use";
  } catch (const Diverged& error) {
    EXPECT_NE(std::string(error.what()).find("the gradient of step 6 is not a finite number at any scale"),
              std::string::npos)
        << error.what();
  }
}

TEST(LossScaling, IsTheSameOnEveryRankWhenOneOverflows) {
  test::Pair pair;
  std::array<StepOutcome, 2> outcomes;
  std::array<float, 2> scales{};
  std::array<bool, 2> unchanged{};
  const auto body = [&](size_t rank) {
    set_threads(1);
    const auto communicator = pair.rank(static_cast<int>(rank));
    TrainingStep step(*communicator, options_of("mlp", Precision::fp32),
                      {.loss_scaling = LossScalerOptions{.scale = 0x1p100F}});
    step.distribute();
    // Rank 1's own gradients alone leave fp32.
    if (rank == 1) enlarge(step.network(), 1e6F);
    const std::vector<float> before = copy(step.network().weights());
    const test::RandomBatch batch(8, 16, kClasses, rank);
    outcomes.at(rank) = step.run(batch.view(), 1, 0.01, {});
    scales.at(rank) = step.loss_scaler()->scale();
    unchanged.at(rank) = copy(step.network().weights()) == before;
  };
  std::thread other(body, 1);
  body(0);
  other.join();
  for (const size_t rank : {0U, 1U}) {
    EXPECT_TRUE(outcomes.at(rank).skipped) << rank;
    EXPECT_EQ(scales.at(rank), 0x1p99F) << rank;
    EXPECT_TRUE(unchanged.at(rank)) << rank;
  }
  const auto alone = make_single();
  TrainingStep calm(*alone, options_of("mlp", Precision::fp32), {.loss_scaling = LossScalerOptions{.scale = 0x1p100F}});
  const test::RandomBatch batch(8, 16, kClasses, 0);
  EXPECT_FALSE(calm.run(batch.view(), 1, 0.01, {}).skipped) << "rank 0 overflows by itself";
}

TEST(LossScaling, ResumesOnEveryRankWhereRankZerosCheckpointWas) {
  test::Pair pair;
  std::array<LossScalerState, 2> states;
  const auto body = [&](size_t rank) {
    set_threads(1);
    const auto communicator = pair.rank(static_cast<int>(rank));
    TrainingStep step(*communicator, options_of("mlp", Precision::fp32), {.loss_scaling = LossScalerOptions{}});
    if (rank == 0) step.restore_loss_scaler({.scale = 0.25F, .good = 1234567, .skipped = 31});
    step.distribute();
    states.at(rank) = step.loss_scaler()->state();
  };
  std::thread other(body, 1);
  body(0);
  other.join();
  for (const LossScalerState& state : states) {
    EXPECT_EQ(state.scale, 0.25F);
    EXPECT_EQ(state.good, 1234567);
    EXPECT_EQ(state.skipped, 31);
  }
}

}  // namespace
}  // namespace trainyard
