// What every optimizer promises, and what the whole arena's length is made of.
#include "trainer/optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/error.h"
#include "trainer/base/parallel.h"
#include "trainer/base/random.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/norm.h"

namespace trainyard {
namespace {

constexpr size_t kWeight = 70001;  // more than one block and one thread's part
constexpr size_t kArena = kWeight + 9;

std::vector<float> random_floats(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  Random random{seed};
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::unique_ptr<Optimizer> optimizer(const std::string& kind) {
  return make_optimizer({.kind = kind, .weight_decay = 0.01},
                        {{.offset = 0, .size = kWeight, .adapt = true}, {.offset = kWeight, .size = 9, .adapt = false}},
                        kArena);
}

class EveryOptimizer : public testing::TestWithParam<std::string> {
 protected:
  ~EveryOptimizer() override { set_threads(1); }
};
INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer, testing::Values("sgd", "lars", "adam", "adamw"),
                         [](const auto& info) { return info.param; });

TEST_P(EveryOptimizer, GivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    auto weights = random_floats(kArena, 1);
    const auto updates = optimizer(GetParam());
    for (int64_t step = 1; step <= 3; ++step) {
      updates->step(weights, random_floats(kArena, static_cast<uint64_t>(step) + 1), 0.05F, step);
    }
    results.push_back(weights);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_P(EveryOptimizer, GoesOnFromItsStateBitForBit) {
  auto whole = random_floats(kArena, 1);
  auto parted = whole;
  const auto one = optimizer(GetParam());
  for (int64_t step = 1; step <= 4; ++step) one->step(whole, random_floats(kArena, step + 1), 0.05F, step);

  const auto before = optimizer(GetParam());
  for (int64_t step = 1; step <= 2; ++step) before->step(parted, random_floats(kArena, step + 1), 0.05F, step);
  const auto after = optimizer(GetParam());
  const auto from = before->state();
  const auto to = after->state();
  ASSERT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    EXPECT_EQ(from[i].suffix, to[i].suffix);
    ASSERT_EQ(from[i].values.size(), kArena);
    std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
  }
  for (int64_t step = 3; step <= 4; ++step) after->step(parted, random_floats(kArena, step + 1), 0.05F, step);
  EXPECT_EQ(whole, parted);
}

TEST_P(EveryOptimizer, LeavesNormAndBiasUndecayedUnlessAsked) {
  for (const bool asked : {false, true}) {
    std::vector<float> weights(kArena, 1.0F);
    const std::vector<float> gradients(kArena, 0.0F);
    make_optimizer({.kind = GetParam(), .weight_decay = 0.01, .decay_norm_and_bias = asked},
                   {{.offset = 0, .size = kWeight, .adapt = true}, {.offset = kWeight, .size = 9, .adapt = false}},
                   kArena)
        ->step(weights, gradients, 0.5F, 1);
    EXPECT_LT(weights.front(), 1.0F);
    EXPECT_EQ(weights.back() < 1.0F, asked);
  }
}

TEST(Optimizers, RefuseAnUnknownKind) {
  try {
    optimizer("sdg");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
    EXPECT_NE(std::string(error.what()).find("sgd, lars, adam, adamw"), std::string::npos);
  }
}

TEST(Norms, AreExactAndTheSameOnAnyNumberOfThreads) {
  // Squares of small integers add up without rounding.
  std::vector<float> values(100003);
  double want = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 17) - 8;
    want += double{values[i]} * values[i];
  }
  EXPECT_EQ(squared_length(values), want);
  EXPECT_EQ(squared_length({}), 0);
  const auto noise = random_floats(100003, 7);
  const double once = squared_length(noise);
  set_threads(3);
  EXPECT_EQ(squared_length(noise), once);
  set_threads(1);
}

TEST(Clipping, IsPyTorchs) {
  // torch.nn.utils.clip_grad_norm_ of (3, -4, 12) to 6.5, in float64.
  std::vector<float> gradients{3, -4, 12};
  EXPECT_EQ(clip_to_length(gradients, 6.5), 13);
  const double want[] = {1.49999988462, -1.99999984615, 5.99999953846};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(gradients[i], want[i], 1e-6) << i;
  std::vector<float> short_ones{0.3F, -0.4F};
  EXPECT_NEAR(clip_to_length(short_ones, 6.5), 0.5, 1e-7);
  EXPECT_EQ(short_ones, (std::vector<float>{0.3F, -0.4F}));
  std::vector<float> broken{1, std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(std::isfinite(clip_to_length(broken, 1)));
  EXPECT_EQ(broken[0], 1);
}

}  // namespace
}  // namespace trainyard
