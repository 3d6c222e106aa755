// Steps whose ops are recorded once and launched as a few graphs: the same bits as op by op,
// whatever changes between two steps. The device is the host (host_cuda.h), which keeps kernels and
// their arguments as a stream that is captured does, and refuses what such a stream refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "common/error.h"
#include "tests/models/projected.h"
#include "tests/models/support.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/layers/layers.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/models/inception.h"

namespace trainyard {
namespace {

using test::RandomBatch;
using test::Recorded;

constexpr int kClasses = 4;
constexpr int kBatch = 4;
constexpr std::array<float, 3> kHalf{0.5F, 0.5F, 0.5F};

struct Case {
  const char* name;
  int size;
  std::function<std::unique_ptr<Graph>()> graph;
  int graphs;  ///< of a step
};

/// Parameters for more than one part of the backward pass, and dropout.
std::unique_ptr<Graph> wide() {
  auto graph = std::make_unique<Graph>();
  ValueId x = flatten(*graph, "flat", input(*graph, 32, kHalf, kHalf));
  x = linear(*graph, "first", x, 1400, true);
  x = linear(*graph, "second", x, 3100, true);
  x = dropout(*graph, "dropout", x, 0.5F);
  linear(*graph, "fc", x, kClasses, false);
  return graph;
}

/// Two heads, each with a loss of its own, branches and dropout.
std::unique_ptr<Graph> branched() {
  auto graph = std::make_unique<Graph>();
  ValueId x = input(*graph, 35, kHalf, kHalf);
  x = conv2d(*graph, "stem", x, {.out = 8, .kernel = {3, 3}, .stride = {2, 2}});
  x = inception_a(*graph, "mixed", batch_norm(*graph, "norm", x, {.relu = true}), 16);
  graph->add_auxiliary(inception_auxiliary(*graph, "AuxLogits", x, kClasses), kAuxiliaryWeight);
  x = dropout(*graph, "dropout", global_avg_pool(*graph, "avgpool", x), 0.5F);
  linear(*graph, "fc", x, kClasses, false);
  return graph;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{{"resnet20", 8, [] { return build_model("resnet20", 8, kClasses); }, 2},
                                     {"wide", 32, wide, 3},
                                     {"branched", 35, branched, 2},
                                     {"projected", 32, [] { return test::projected(32, kClasses); }, 2}};
  return all;
}

struct Trained {
  std::vector<float> weights, statistics;
  std::vector<double> losses;
};

/// Which steps are given mixtures.
using Mixes = std::function<bool(size_t step)>;

/// Steps with batches of their own, at the given scales of the loss. before: what else is done
/// before step i.
Trained train(const Case& what, Recorded& recorded, bool record, const std::vector<float>& scales,
              const std::function<void(Network&, size_t)>& before = nullptr, Precision precision = Precision::fp32,
              const Mixes& mixes = nullptr) {
  NetworkOptions options{.model = what.name, .classes = kClasses, .image_size = what.size, .batch = kBatch};
  options.record_steps = record;
  options.precision = precision;
  GraphNetwork network(options, what.graph(), test::make_host_cuda_recording(recorded));
  Network& net = network;
  Trained trained;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (before) before(net, i);
    const RandomBatch batch(kBatch, what.size, kClasses, 40 + i);
    const RandomBatch others(kBatch, what.size, kClasses, 80 + i);
    const bool mixed = mixes && mixes(i);
    BatchView view = mixed ? batch.mixed(others.labels, 0.5F + 0.05F * static_cast<float>(i)) : batch.view();
    view.first_image = i * kBatch;
    size_t announced = net.gradients().size();
    const StepResult result = net.train_step(view, scales[i] / kBatch, [&](size_t begin, size_t end) {
      EXPECT_EQ(end, announced);
      announced = begin;
    });
    EXPECT_EQ(announced, 0U);
    trained.losses.push_back(result.loss_sum);
    test::descend(net, 0.02F / scales[i]);
  }
  trained.weights.assign(net.weights().begin(), net.weights().end());
  trained.statistics.assign(net.running_statistics().begin(), net.running_statistics().end());
  return trained;
}

void expect_same(const Trained& got, const Trained& want) {
  EXPECT_EQ(got.losses, want.losses);
  EXPECT_TRUE(std::ranges::equal(got.weights, want.weights));
  EXPECT_TRUE(std::ranges::equal(got.statistics, want.statistics));
}

class RecordedStep : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Networks, RecordedStep, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RecordedStep, GivesTheBitsOfOpByOp) {
  Recorded plain;
  Recorded recorded;
  const std::vector<float> scales{1, 1, 1, 1};
  const Trained want = train(GetParam(), plain, false, scales);
  EXPECT_EQ(plain.made, 0);
  EXPECT_NE(want.losses[2], want.losses[3]);
  expect_same(train(GetParam(), recorded, true, scales), want);
  // The first step as it is, the second one recorded, and every one from then on a few graphs.
  EXPECT_EQ(recorded.made, GetParam().graphs);
  EXPECT_EQ(recorded.runs, 3 * GetParam().graphs);
}

TEST_P(RecordedStep, FollowsSharesAndLabelsOfMixtures) {
  Recorded plain;
  Recorded recorded;
  const std::vector<float> scales{1, 1, 1, 1};
  const Mixes always = [](size_t) { return true; };
  const Trained want = train(GetParam(), plain, false, scales, nullptr, Precision::fp32, always);
  expect_same(train(GetParam(), recorded, true, scales, nullptr, Precision::fp32, always), want);
  EXPECT_EQ(recorded.made, GetParam().graphs);
  EXPECT_EQ(recorded.runs, 3 * GetParam().graphs);
}

TEST(RecordedStepOf, MixturesIsAnotherOne) {
  const Case& what = cases()[0];
  Recorded plain;
  Recorded recorded;
  const std::vector<float> scales(10, 1.0F);
  const Mixes later = [](size_t step) { return step >= 3 && step < 7; };
  const Trained want = train(what, plain, false, scales, nullptr, Precision::fp32, later);
  expect_same(train(what, recorded, true, scales, nullptr, Precision::fp32, later), want);
  EXPECT_EQ(recorded.made, 3 * what.graphs) << "before, for mixtures, and behind them";
}

TEST_P(RecordedStep, FollowsTheScaleOfTheLoss) {
  Recorded plain;
  Recorded recorded;
  const std::vector<float> scales{1024, 512, 512, 512, 1024};
  const Trained want = train(GetParam(), plain, false, scales, nullptr, Precision::fp16);
  expect_same(train(GetParam(), recorded, true, scales, nullptr, Precision::fp16), want);
  EXPECT_EQ(recorded.made, 2 * GetParam().graphs) << "once for each scale after the first step";
}

TEST(RecordedStepBeside, AnEvaluationTrainsOn) {
  const Case& what = cases()[0];
  const auto evaluate = [&](Network& net, size_t step) {
    if (step != 2) return;
    std::vector<float> logits(kBatch * kClasses);
    net.evaluate(RandomBatch(kBatch - 1, what.size, kClasses, 3).view(), logits);
  };
  Recorded plain;
  Recorded recorded;
  const std::vector<float> scales(5, 1.0F);
  const Trained want = train(what, plain, false, scales, evaluate);
  expect_same(train(what, recorded, true, scales, evaluate), want);
  EXPECT_GE(recorded.runs, 3 * what.graphs);
}

TEST(RecordedStepWhere, ItCannotBeDoneOpsRunOneByOne) {
  Recorded plain;
  Recorded refusing{.refuses = true};
  const std::vector<float> scales(3, 1.0F);
  const Trained want = train(cases()[0], plain, false, scales);
  testing::internal::CaptureStderr();
  expect_same(train(cases()[0], refusing, true, scales), want);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "trainer: note: a step cannot be recorded here (no recording here), so its ops are run one by one\n");
  EXPECT_EQ(refusing.runs, 0);
}

/// Steps whose batch is taken anew by each, or kept by the network from the second one on. With an
/// evaluation before each step, every batch is another one.
std::vector<float> with_a_batch(const Case& what, bool keep, bool evaluate, Precision precision = Precision::fp32) {
  Recorded recorded;
  NetworkOptions options{.model = what.name, .classes = kClasses, .image_size = what.size, .batch = kBatch};
  options.precision = precision;
  options.keeps_batch = keep;
  GraphNetwork network(options, what.graph(), test::make_host_cuda_recording(recorded));
  Network& net = network;
  for (uint64_t step = 0; step < 3; ++step) {
    const RandomBatch batch(kBatch, what.size, kClasses, evaluate ? 40 + step : 40);
    const std::vector<uint8_t> nothing(batch.images.size(), 0);
    BatchView view = batch.view();
    view.first_image = step * kBatch;
    // With a kept batch the network must not read the images that it is given, so they are black.
    if (keep && step > 0 && !evaluate) view.images = nothing.data();
    if (keep && step > 0) net.keep_batch();
    std::vector<float> logits(kBatch * kClasses);
    if (evaluate) net.evaluate(batch.view(), logits);
    net.train_step(view, 1.0F / kBatch, nullptr);
    test::descend(net, 0.02F);
  }
  return {net.weights().begin(), net.weights().end()};
}

TEST_P(RecordedStep, OnABatchThatIsKeptHasTheBitsOfOneThatIsTakenAnew) {
  EXPECT_EQ(with_a_batch(GetParam(), true, false), with_a_batch(GetParam(), false, false));
}

/// Its stem goes by space to depth, and no op reads the image after it.
TEST(RecordedStepOfAStem, OnABatchThatIsKeptHasTheBitsOfOneThatIsTakenAnew) {
  const Case resnet18{"resnet18", 32, [] { return build_model("resnet18", 32, kClasses); }, 2};
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    EXPECT_EQ(with_a_batch(resnet18, true, false, precision), with_a_batch(resnet18, false, false, precision));
  }
}

TEST(RecordedStepBehind, AnEvaluationTakesItsOwnBatch) {
  EXPECT_EQ(with_a_batch(cases()[0], true, true), with_a_batch(cases()[0], false, true));
}

TEST(RecordedStepBefore, TheFirstOneNoBatchCanBeKept) {
  NetworkOptions options{.model = "resnet20", .classes = kClasses, .image_size = 8, .batch = kBatch};
  options.keeps_batch = true;
  GraphNetwork network(options, build_model("resnet20", 8, kClasses), test::make_host_cuda());
  EXPECT_THROW(network.keep_batch(), Error);
}

/// Three steps, the next batch brought while each runs.
class Prefetched : public testing::Test {
 protected:
  Prefetched() {
    NetworkOptions options{.model = "resnet20", .classes = kClasses, .image_size = 8, .batch = kBatch};
    network_ = std::make_unique<GraphNetwork>(options, build_model("resnet20", 8, kClasses), test::make_host_cuda());
  }
  Network& net() { return *network_; }
  std::unique_ptr<Network> network_;
};

TEST_F(Prefetched, BatchesAreTheirOwnStepsAlone) {
  std::vector<RandomBatch> batches;
  for (uint64_t i = 0; i < 4; ++i) batches.emplace_back(kBatch, 8, kClasses, 40 + i);
  std::vector<double> losses;
  for (size_t i = 0; i < batches.size(); ++i) {
    const auto meanwhile = [&] {
      if (i + 1 < batches.size()) net().prefetch(batches[i + 1].view());
    };
    losses.push_back(net().train_step(batches[i].view(), 1.0F / kBatch, nullptr, meanwhile).loss_sum);
    test::descend(net(), 0.02F);
  }
  Recorded plain;
  const std::vector<float> scales(4, 1.0F);
  EXPECT_EQ(losses, train(cases()[0], plain, false, scales).losses);
}

TEST_F(Prefetched, AnotherBatchThanTheNextOneIsAnError) {
  const RandomBatch first(kBatch, 8, kClasses, 1);
  const RandomBatch second(kBatch, 8, kClasses, 2);
  net().train_step(first.view(), 1, nullptr, [&] { net().prefetch(second.view()); });
  EXPECT_THROW(net().train_step(first.view(), 1, nullptr), Error);
  net().prefetch(first.view());
  EXPECT_THROW(net().prefetch(second.view()), Error);
}

}  // namespace
}  // namespace trainyard
