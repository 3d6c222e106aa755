// What every model promises: the seam of network.h, one promise a test.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "common/error.h"
#include "tests/models/support.h"
#include "trainer/base/parallel.h"

namespace trainyard {
namespace {

using test::descend;
using test::network;
using test::RandomBatch;

struct Case {
  const char* model;
  int size;
};

class EveryModel : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         testing::Values(Case{"mlp", 12}, Case{"resnet20", 32}, Case{"resnet18", 40}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST_P(EveryModel, LearnsABatchByHeart) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(8, size, 4, 3);
  const auto net = network(model, 4, size, 8);
  const double first = net->train_step(batch.view(), 1.0F / 8, nullptr).loss_sum / 8;
  // Untrained: about log(4) = 1.39 and something for the spread of the logits.
  EXPECT_GT(first, 0.5);
  EXPECT_LT(first, 8.0);
  StepResult last;
  for (int step = 0; step < 40; ++step) {
    descend(*net, 0.03F);
    last = net->train_step(batch.view(), 1.0F / 8, nullptr);
  }
  EXPECT_LT(last.loss_sum / 8, 0.2);
  EXPECT_EQ(last.top1, 8);
  EXPECT_EQ(last.top5, 8);
}

void expect_announced_from_back_to_front(const char* model, int size) {
  const RandomBatch batch(4, size, 3, 5);
  const auto net = network(model, 3, size, 4);
  std::vector<float> seen(net->gradients().size());
  size_t expected_end = net->gradients().size();
  net->train_step(batch.view(), 0.25F, [&](size_t begin, size_t end) {
    EXPECT_EQ(end, expected_end);
    EXPECT_LT(begin, end);
    expected_end = begin;
    const auto gradients = net->gradients();
    std::copy(gradients.begin() + begin, gradients.begin() + end, seen.begin() + begin);
  });
  EXPECT_EQ(expected_end, 0U);
  // Announced means final: nothing has changed since.
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), net->gradients().begin()));
}

TEST_P(EveryModel, AnnouncesGradientsFromBackToFront) {
  expect_announced_from_back_to_front(GetParam().model, GetParam().size);
}

TEST(Models, AnnounceGradientsOfBottlenecksFromBackToFront) { expect_announced_from_back_to_front("resnet50", 32); }

TEST_P(EveryModel, RepeatsItsBits) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(4, size, 3, 6);
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < 2; ++run) {
    const auto net = network(model, 3, size, 4, 17);
    for (int step = 0; step < 3; ++step) {
      net->train_step(batch.view(), 0.25F, nullptr);
      descend(*net, 0.05F);
    }
    runs.emplace_back(net->weights().begin(), net->weights().end());
    runs.back().insert(runs.back().end(), net->running_statistics().begin(), net->running_statistics().end());
  }
  EXPECT_EQ(runs[0], runs[1]);
  const auto other = network(model, 3, size, 4, 18);
  EXPECT_FALSE(
      std::equal(other->weights().begin(), other->weights().end(), network(model, 3, size, 4, 17)->weights().begin()));
}

TEST_P(EveryModel, GradientsScaleWithTheLoss) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(4, size, 3, 7);
  const auto net = network(model, 3, size, 4);
  net->train_step(batch.view(), 1.0F, nullptr);
  const std::vector<float> whole(net->gradients().begin(), net->gradients().end());
  net->train_step(batch.view(), 0.25F, nullptr);
  // A power of two moves only exponents, all the way down.
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(net->gradients()[i], whole[i] * 0.25F) << i;
}

TEST_P(EveryModel, EvaluatesSmallBatchesAsLargeOnes) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(6, size, 7, 8);
  const auto net = network(model, 7, size, 6);
  net->train_step(batch.view(), 1.0F / 6, nullptr);
  std::vector<float> together(6 * 7);
  const StepResult whole = net->evaluate(batch.view(), together);
  std::vector<float> apart(6 * 7);
  StepResult sum;
  for (const auto [begin, many] : {std::pair{0, 1}, {1, 3}, {4, 2}}) {
    const StepResult part = net->evaluate(batch.part(begin, many), std::span(apart).subspan(begin * 7));
    sum.loss_sum += part.loss_sum;
    sum.top1 += part.top1;
    sum.top5 += part.top5;
  }
  EXPECT_EQ(together, apart);
  EXPECT_NEAR(whole.loss_sum, sum.loss_sum, 1e-9 * whole.loss_sum);
  EXPECT_EQ(whole.top1, sum.top1);
  EXPECT_EQ(whole.top5, sum.top5);
  BatchView unlabelled = batch.view();
  unlabelled.labels = nullptr;
  std::vector<float> again(6 * 7);
  EXPECT_EQ(net->evaluate(unlabelled, again).loss_sum, 0);
  EXPECT_EQ(again, together);
}

TEST_P(EveryModel, EvaluatesNewWeightsAfterAStep) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(4, size, 3, 9);
  const auto net = network(model, 3, size, 4);
  std::vector<float> before(12), after(12), fresh(12);
  net->evaluate(batch.view(), before);
  net->train_step(batch.view(), 0.25F, nullptr);
  descend(*net, 0.1F);
  net->evaluate(batch.view(), after);
  EXPECT_NE(before, after);
  NetworkOptions options{model, 3, size, 4, false, 99, nullptr};
  const auto loaded = make_network(options);
  EXPECT_TRUE(loaded->gradients().empty());
  std::copy(net->weights().begin(), net->weights().end(), loaded->weights().begin());
  std::copy(net->running_statistics().begin(), net->running_statistics().end(), loaded->running_statistics().begin());
  loaded->weights_changed();
  loaded->evaluate(batch.view(), fresh);
  EXPECT_EQ(after, fresh);
}

TEST_P(EveryModel, NamesItsTensors) {
  const auto [model, size] = GetParam();
  const auto net = network(model, 10, size, 2);
  std::set<std::string> names;
  for (const auto* list : {&net->parameters(), &net->statistics()}) {
    size_t offset = 0;
    for (const TensorInfo& info : *list) {
      EXPECT_TRUE(names.insert(info.name).second) << info.name;
      EXPECT_EQ(info.offset, offset);
      size_t size_of_shape = 1;
      for (const int64_t extent : info.shape) size_of_shape *= static_cast<size_t>(extent);
      EXPECT_EQ(info.size, size_of_shape);
      offset += info.size;
      if (list == &net->parameters()) EXPECT_EQ(info.decay, info.shape.size() > 1) << info.name;
    }
    EXPECT_EQ(offset, list == &net->parameters() ? net->weights().size() : net->running_statistics().size());
  }
}

TEST_P(EveryModel, DrawsItsGraph) {
  const auto [model, size] = GetParam();
  const auto net = network(model, 10, size, 2);
  std::set<std::string> known;
  for (const GraphNode& node : net->graph()) {
    EXPECT_FALSE(node.op.empty());
    EXPECT_EQ(node.name.find('.'), std::string::npos);
    for (const std::string& input : node.inputs) EXPECT_TRUE(known.contains(input)) << node.name << " of " << input;
    EXPECT_TRUE(known.insert(node.name).second) << node.name;
    ASSERT_GE(node.output_shape.size(), 2U);
    EXPECT_EQ(node.output_shape[0], -1);
  }
  EXPECT_EQ(net->graph().back().output_shape, (std::vector<int64_t>{-1, 10}));
}

/// A network for inference, which has no arena of gradients.
std::unique_ptr<Network> inference_network(const char* model, int classes) {
  NetworkOptions options{model, classes, 32, 1, false, 1, nullptr};
  return make_network(options);
}

TEST(Models, HaveAsManyParametersAsPublished) {
  // He et al. 2015, table 6: 0.27 M and 0.85 M (option A: 269,722 and 853,018).
  EXPECT_EQ(inference_network("resnet20", 10)->weights().size(), 269722U);
  EXPECT_EQ(inference_network("resnet56", 10)->weights().size(), 853018U);
  // torchvision's documentation of its weights, 1000 classes.
  EXPECT_EQ(inference_network("resnet18", 1000)->weights().size(), 11689512U);
  EXPECT_EQ(inference_network("resnet34", 1000)->weights().size(), 21797672U);
  EXPECT_EQ(inference_network("resnet50", 1000)->weights().size(), 25557032U);
  EXPECT_EQ(inference_network("resnet101", 1000)->weights().size(), 44549160U);
  EXPECT_EQ(inference_network("resnet152", 1000)->weights().size(), 60192808U);
  EXPECT_EQ(inference_network("mlp", 10)->weights().size(), 3072U * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
}

TEST(Models, BottlenecksStrideOnTheirSquareKernel) {
  std::vector<GraphNode> nodes = inference_network("resnet50", 10)->graph();
  const auto width_of = [&](const std::string& name) {
    for (const GraphNode& node : nodes) {
      if (node.name == name) return node.output_shape.at(3);
    }
    throw std::runtime_error("no layer " + name);
  };
  // 32 pixels are 8 behind the stem.
  EXPECT_EQ(width_of("layer2/0/conv1"), 8);
  EXPECT_EQ(width_of("layer2/0/conv2"), 4);
  EXPECT_EQ(width_of("layer2/0/conv3"), 4);
}

TEST(Models, DrawConvolutionsWithHesVariance) {
  const auto net = network("resnet18", 10, 32, 1);
  for (const TensorInfo& info : net->parameters()) {
    if (info.shape.size() != 4) continue;
    double sum = 0;
    double squares = 0;
    for (const float w : net->weights().subspan(info.offset, info.size)) {
      sum += w;
      squares += double{w} * w;
    }
    const auto count = static_cast<double>(info.size);
    const double expected = 2.0 / (static_cast<double>(info.shape[0] * info.shape[2] * info.shape[3]));
    // Five standard errors of a variance and of a mean.
    EXPECT_NEAR(squares / count / expected, 1.0, 5 * std::sqrt(2.0 / count)) << info.name;
    EXPECT_NEAR(sum / count, 0.0, 5 * std::sqrt(expected / count)) << info.name;
  }
}

TEST(Models, CountTheirMemory) {
  const auto small = network("resnet20", 10, 32, 2);
  const auto large = network("resnet20", 10, 32, 8);
  const size_t parameters = 2 * small->weights().size_bytes() + small->running_statistics().size_bytes();
  EXPECT_GT(small->memory_bytes(), parameters);
  // Activations grow with the batch; parameters and some scratch do not.
  const double growth =
      static_cast<double>(large->memory_bytes() - parameters) / static_cast<double>(small->memory_bytes() - parameters);
  EXPECT_GT(growth, 3.5);
  EXPECT_LE(growth, 4.0);
  // Evaluation runs in the memory of training; only its packed weights come on top.
  std::vector<float> logits(80);
  const size_t before = large->memory_bytes();
  large->evaluate(RandomBatch(8, 32, 10, 1).view(), logits);
  EXPECT_LT(large->memory_bytes() - before, 3 * large->weights().size_bytes());
}

TEST(Models, SmoothLabelsInTrainingOnly) {
  constexpr int kClasses = 4;
  const RandomBatch batch(6, 12, kClasses, 41);
  NetworkOptions options{.model = "mlp", .classes = kClasses, .image_size = 12, .batch = 6, .seed = 3};
  const auto sharp = make_network(options);
  options.label_smoothing = 0.2F;
  const auto smooth = make_network(options);
  std::vector<float> logits(6 * kClasses);
  const double plain = sharp->evaluate(batch.view(), logits).loss_sum;
  EXPECT_EQ(smooth->evaluate(batch.view(), logits).loss_sum, plain);
  EXPECT_NEAR(sharp->train_step(batch.view(), 1, nullptr).loss_sum, plain, 1e-6 * plain);
  // A fifth of each label is shared: that part is the mean of what every class as the label would
  // cost.
  double shared = 0;
  for (int c = 0; c < kClasses; ++c) {
    RandomBatch relabelled = batch;
    std::fill(relabelled.labels.begin(), relabelled.labels.end(), c);
    shared += sharp->evaluate(relabelled.view(), logits).loss_sum / kClasses;
  }
  const double want = 0.8 * plain + 0.2 * shared;
  EXPECT_NEAR(smooth->train_step(batch.view(), 1, nullptr).loss_sum, want, 1e-6 * want);
}

TEST(Models, LearnMixturesInTrainingOnly) {
  const RandomBatch batch(6, 12, 4, 41);
  RandomBatch relabelled = batch;
  std::rotate(relabelled.labels.begin(), relabelled.labels.begin() + 1, relabelled.labels.end());
  const auto net = network("mlp", 4, 12, 6, 3);
  const BatchView mixtures = batch.mixed(relabelled.labels, 0.75F);
  std::vector<float> logits(24);
  const StepResult own = net->evaluate(batch.view(), logits);
  const double other = net->evaluate(relabelled.view(), logits).loss_sum;
  EXPECT_EQ(net->evaluate(mixtures, logits).loss_sum, own.loss_sum);
  const StepResult mixed = net->train_step(mixtures, 1, nullptr);
  const double want = 0.75 * own.loss_sum + 0.25 * other;
  EXPECT_NEAR(mixed.loss_sum, want, 1e-6 * want);
  EXPECT_EQ(mixed.top1, own.top1);
}

TEST(Models, RefuseWhatTheyCannotDo) {
  const auto code_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return Exit::ok;
  };
  EXPECT_EQ(code_of([] { network("resnet19", 10, 32, 2); }), Exit::usage);
  EXPECT_EQ(code_of([] { network("resnet18", 10, 16, 2); }), Exit::usage);
  EXPECT_EQ(code_of([] { network("mlp", 0, 32, 2); }), Exit::data);
  const auto net = network("mlp", 3, 8, 2);
  EXPECT_EQ(code_of([&] { net->train_step(RandomBatch(2, 9, 3, 1).view(), 1, nullptr); }), Exit::data);
  EXPECT_EQ(code_of([&] { net->train_step(RandomBatch(1, 8, 3, 1).view(), 1, nullptr); }), Exit::internal);
  RandomBatch wrong(2, 8, 3, 1);
  wrong.labels[1] = 3;
  EXPECT_EQ(code_of([&] { net->train_step(wrong.view(), 1, nullptr); }), Exit::data);
}

}  // namespace
}  // namespace trainyard
