// One step of training on one rank: micro-batches, clipping, and numbers that stop being numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.h"
#include "tests/models/support.h"
#include "tests/train/pair.h"
#include "trainer/comm/communicator.h"
#include "trainer/optim/norm.h"
#include "trainer/train/loop/training_step.h"
#include "trainer/train/weights/finite.h"

namespace trainyard {
namespace {

NetworkOptions mlp(int batch) { return {.model = "mlp", .classes = 4, .image_size = 12, .batch = batch, .seed = 5}; }

double length(std::span<const float> values) { return std::sqrt(squared_length(values)); }

double distance(std::span<const float> a, std::span<const float> b) {
  std::vector<float> difference(a.begin(), a.end());
  for (size_t i = 0; i < difference.size(); ++i) difference[i] -= b[i];
  return length(difference);
}

TEST(TrainingSteps, OfMicroBatchesAreThoseOfOneBatch) {
  const auto communicator = make_single();
  TrainingStep whole(*communicator, mlp(24), {});
  TrainingStep parts(*communicator, mlp(6), {.accumulate = 4});
  const std::vector<float> before(whole.network().weights().begin(), whole.network().weights().end());
  for (int64_t number = 1; number <= 3; ++number) {
    const test::RandomBatch batch(24, 12, 4, static_cast<uint64_t>(number));
    const test::RandomBatch others(24, 12, 4, static_cast<uint64_t>(number + 10));
    const BatchView view = number == 2 ? batch.mixed(others.labels, 0.625F) : batch.view();
    const StepOutcome want = whole.run(view, number, 0.1, {});
    const StepOutcome got = parts.run(view, number, 0.1, {});
    EXPECT_NEAR(got.loss, want.loss, 1e-6 * want.loss);
    EXPECT_EQ(got.top1, want.top1);
    const double gradient = length(whole.network().gradients());
    EXPECT_LT(distance(parts.network().gradients(), whole.network().gradients()), 1e-6 * gradient);
  }
  const double weights = length(whole.network().weights());
  EXPECT_LT(distance(parts.network().weights(), whole.network().weights()), 1e-6 * weights);
  EXPECT_GT(distance(before, whole.network().weights()), 1e-2 * weights);
}

TEST(TrainingSteps, CutGradientsToALength) {
  const auto communicator = make_single();
  const OptimizerOptions plain{.weight_decay = 0, .momentum = 0};
  const test::RandomBatch batch(8, 12, 4, 3);
  TrainingStep free(*communicator, mlp(8), {.optimizer = plain});
  EXPECT_EQ(free.run(batch.view(), 1, 0.5, {}).gradient_norm, 0);
  const double norm = length(free.network().gradients());
  TrainingStep cut(*communicator, mlp(8), {.optimizer = plain, .clip_norm = norm / 8});
  const std::vector<float> before(cut.network().weights().begin(), cut.network().weights().end());
  EXPECT_NEAR(cut.run(batch.view(), 1, 0.5, {}).gradient_norm, norm, 1e-6 * norm);
  EXPECT_NEAR(distance(before, cut.network().weights()), 0.5 * norm / 8, 1e-4 * norm);
  TrainingStep loose(*communicator, mlp(8), {.optimizer = plain, .clip_norm = norm * 1.01});
  loose.run(batch.view(), 1, 0.5, {});
  EXPECT_EQ(distance(loose.network().weights(), free.network().weights()), 0);
}

TEST(TrainingSteps, HandWishesRound) {
  const auto communicator = make_single();
  TrainingStep step(*communicator, mlp(8), {});
  const test::RandomBatch batch(8, 12, 4, 3);
  EXPECT_FALSE(step.run(batch.view(), 1, 0.1, {}).wishes.stop);
  EXPECT_TRUE(step.run(batch.view(), 2, 0.1, {.stop = true}).wishes.stop);
  const Wishes finish = step.run(batch.view(), 3, 0.1, {.finish = true}).wishes;
  EXPECT_TRUE(finish.finish);
  EXPECT_FALSE(finish.stop);
}

TEST(TrainingSteps, NameTheStepAndTheTensorThatAreNoNumbers) {
  const auto communicator = make_single();
  TrainingStep step(*communicator, mlp(8), {});
  const test::RandomBatch batch(8, 12, 4, 3);
  const auto& parameters = step.network().parameters();
  step.network().weights()[parameters[2].offset] = std::numeric_limits<float>::infinity();
  step.network().weights_changed();
  const std::vector<float> before(step.network().weights().begin(), step.network().weights().end());
  try {
    step.run(batch.view(), 17, 0.1, {});
    FAIL() << "an infinite weight gave a loss";
  } catch (const Diverged& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_NE(std::string(error.what()).find("step 17 "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(parameters[2].name), std::string::npos) << error.what();
  }
  EXPECT_TRUE(std::equal(before.begin(), before.end(), step.network().weights().begin()));
}

TEST(TrainingSteps, NameTheGradientThatIsNoNumber) {
  const auto communicator = make_single();
  TrainingStep step(*communicator, mlp(8), {.clip_norm = 1});
  // fc3 adds pairs that cancel, so the logits are 0; fc2's gradient is the product of 1e10 and
  // slopes of about 1e29.
  const auto& parameters = step.network().parameters();
  const auto values = [&](size_t i) {
    return step.network().weights().subspan(parameters.at(i).offset, parameters.at(i).size);
  };
  ASSERT_EQ(parameters.at(2).name, "fc2.weight");
  std::ranges::fill(values(1), 1e10F);
  std::ranges::fill(values(2), 0.0F);
  std::ranges::fill(values(3), 1e-3F);
  for (size_t i = 0; i < values(4).size(); ++i) {
    const auto row = static_cast<float>(i / 128 + 1);
    values(4)[i] = (i % 2 == 0 ? 1e30F : -1e30F) * row;
  }
  step.network().weights_changed();
  const test::RandomBatch batch(8, 12, 4, 3);
  try {
    step.run(batch.view(), 4, 0.1, {});
    FAIL() << "an infinite gradient was applied";
  } catch (const Diverged& error) {
    const std::string what = error.what();
    EXPECT_EQ(what, "the gradient of step 4 is not a finite number (that of fc2.weight is not)");
  }
}

/// The batch that the refusal of a larger one names, where so many bytes of the host are free.
int named_batch(Communicator& workers, uint64_t free, int accumulate) {
  NetworkOptions network{.model = "resnet20", .classes = 3, .image_size = 32, .batch = 512};
  network.free_memory = [free] { return free; };
  try {
    const TrainingStep step(workers, network, {.accumulate = accumulate});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    const std::string before = "Use --batch-size ";
    const std::string what = error.what();
    const size_t at = what.find(before);
    if (at != std::string::npos) return std::stoi(what.substr(at + before.size()));
  }
  ADD_FAILURE() << "nothing was refused";
  return 0;
}

/// What fits is to fit still when a restart has fewer ranks, each of which takes micro-batches.
TEST(TrainingSteps, OfRanksThatMayBecomeFewerKeepMemoryForMicroBatches) {
  constexpr uint64_t kEach = uint64_t{100} << 20U;
  const auto alone = make_single();
  test::Pair pair;
  const auto one_of_two = pair.rank(0);
  const int later = named_batch(*alone, kEach, 2);
  EXPECT_EQ(named_batch(*one_of_two, 2 * kEach, 1), later);
  EXPECT_GT(named_batch(*alone, kEach, 1), later) << "who is alone stays alone";
}

TEST(FiniteNumbers, AreMissedWhereTheyEndFirst) {
  const auto net = test::network("resnet20", 3, 16, 4);
  const test::RandomBatch batch(4, 16, 3, 8);
  net->train_step(batch.view(), 0.25F, nullptr);
  EXPECT_TRUE(is_finite(*net));
  EXPECT_EQ(first_not_finite(*net), "");
  for (const TensorInfo& info : net->parameters()) {
    if (info.name != "layer2.1.conv1.weight") continue;
    for (float& w : net->weights().subspan(info.offset, info.size)) w = std::numeric_limits<float>::max();
  }
  net->weights_changed();
  net->train_step(batch.view(), 0.25F, nullptr);
  EXPECT_FALSE(is_finite(*net));
  EXPECT_NE(first_not_finite(*net).find("layer2.1.bn1"), std::string::npos) << first_not_finite(*net);
}

}  // namespace
}  // namespace trainyard
