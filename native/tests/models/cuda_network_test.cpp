// Whole networks on the CUDA back end's ops, run on the host: what memory that is not the host's
// asks of a network (copies of weights, gradients and statistics at the right times), and the same
// numbers as on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.h"
#include "tests/models/support.h"
#include "tests/models/twin.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/models/memory/batch_fit.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard {
namespace {

using test::descend;
using test::distance;
using test::network;
using test::RandomBatch;

constexpr int kClasses = 5;
constexpr int kBatch = 4;

std::unique_ptr<Network> on_device(const std::string& model, int size, StatisticsReducer* reducer = nullptr,
                                   Precision precision = Precision::fp32) {
  NetworkOptions options;
  options.model = model;
  options.classes = kClasses;
  options.image_size = size;
  options.batch = kBatch;
  options.sync_batch_norm = reducer;
  options.precision = precision;
  return std::make_unique<GraphNetwork>(options, build_model(model, size, kClasses), test::make_host_cuda());
}

class CudaNetwork : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, CudaNetwork, testing::Values("mlp", "resnet20"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CudaNetwork, TrainsAsTheCpuDoes) {
  constexpr int kSize = 8;
  const RandomBatch batch(kBatch, kSize, kClasses, 9);
  const auto device = on_device(GetParam(), kSize);
  const auto cpu = network(GetParam(), kClasses, kSize, kBatch);
  ASSERT_EQ(device->weights().size(), cpu->weights().size());
  // Both round in fp32; every step multiplies what one rounding of the step before has become.
  double tolerance = 2e-5;
  for (int step = 0; step < 3; ++step, tolerance *= 10) {
    size_t announced = device->gradients().size();
    const StepResult got = device->train_step(batch.view(), 1.0F / kBatch, [&](size_t begin, size_t end) {
      EXPECT_EQ(end, announced);
      announced = begin;
    });
    const StepResult want = cpu->train_step(batch.view(), 1.0F / kBatch, nullptr);
    EXPECT_EQ(announced, 0U);
    EXPECT_NEAR(got.loss_sum, want.loss_sum, tolerance * want.loss_sum) << step;
    EXPECT_EQ(got.top1, want.top1);
    EXPECT_LT(distance(device->gradients(), cpu->gradients()), tolerance) << step;
    if (!cpu->running_statistics().empty()) {
      EXPECT_LT(distance(device->running_statistics(), cpu->running_statistics()), tolerance) << step;
    }
    descend(*device, 0.02F);
    descend(*cpu, 0.02F);
    EXPECT_LT(distance(device->weights(), cpu->weights()), tolerance) << step;
  }
  std::vector<float> got(kBatch * kClasses);
  std::vector<float> want(got.size());
  device->evaluate(batch.view(), got);
  cpu->evaluate(batch.view(), want);
  EXPECT_LT(distance(got, want), tolerance);
}

TEST_P(CudaNetwork, GradientsAreThereWhenTheyAreAnnounced) {
  const RandomBatch batch(kBatch, 8, kClasses, 10);
  const auto device = on_device(GetParam(), 8);
  std::vector<float> seen(device->gradients().size());
  device->train_step(batch.view(), 0.25F, [&](size_t begin, size_t end) {
    const auto gradients = device->gradients();
    std::copy(gradients.begin() + begin, gradients.begin() + end, seen.begin() + begin);
  });
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), device->gradients().begin()));
  EXPECT_GT(distance(seen, std::vector<float>(seen.size(), 1e-9F)), 1.0);
}

/// One step in `precision` beside the CPU's in fp32: distances of gradients and logits.
std::pair<double, double> beside_fp32(const std::string& model, Precision precision, float scale) {
  constexpr int kSize = 16;
  const RandomBatch batch(kBatch, kSize, kClasses, 12);
  const auto device = on_device(model, kSize, nullptr, precision);
  const auto cpu = network(model.c_str(), kClasses, kSize, kBatch);
  device->train_step(batch.view(), scale / kBatch, nullptr);
  cpu->train_step(batch.view(), 1.0F / kBatch, nullptr);
  std::vector<float> gradients(device->gradients().begin(), device->gradients().end());
  for (float& value : gradients) value /= scale;
  std::vector<float> got(kBatch * kClasses);
  std::vector<float> want(got.size());
  device->evaluate(batch.view(), got);
  cpu->evaluate(batch.view(), want);
  return {distance(gradients, cpu->gradients()), distance(got, want)};
}

TEST_P(CudaNetwork, ComputesInEachPrecision) {
  const std::string model = GetParam();
  const auto [bf16, bf16_logits] = beside_fp32(model, Precision::bf16, 1);
  const auto [fp16, fp16_logits] = beside_fp32(model, Precision::fp16, 1024);
  // One rounding is an error of up to 2^-9 in bf16 and 2^-12 in fp16; twenty layers make ten to
  // thirty times that.
  EXPECT_GT(bf16_logits, 1e-4);
  EXPECT_LT(bf16_logits, 0.05);
  EXPECT_LT(bf16, 0.25);
  EXPECT_GT(fp16_logits, 1e-5);
  EXPECT_LT(fp16_logits, 0.006);
  // Where rounding makes a ReLU pass another element, a gradient errs whole: so its error goes with
  // the root of that.
  EXPECT_LT(fp16, 0.12);
  EXPECT_LT(fp16, 0.6 * bf16) << "fp16 has three bits more, whose root is 0.35";
}

TEST(CudaNetworkPrecision, HalvesActivationsAndKeepsWeightsInFp32) {
  const auto wide = on_device("resnet20", 32);
  const size_t fixed = 2 * wide->weights().size_bytes();
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const auto narrow = on_device("resnet20", 32, nullptr, precision);
    ASSERT_TRUE(std::equal(wide->weights().begin(), wide->weights().end(), narrow->weights().begin()));
    EXPECT_LT(static_cast<double>(narrow->memory_bytes() - fixed),
              0.65 * static_cast<double>(wide->memory_bytes() - fixed));
  }
}

TEST(CudaNetworkPrecision, AScaledLossKeepsGradientsThatFp16WouldLose) {
  constexpr int kSize = 16;
  const RandomBatch batch(kBatch, kSize, kClasses, 13);
  const auto lost = [&](float scale) {
    const auto device = on_device("mlp", kSize, nullptr, Precision::fp16);
    device->train_step(batch.view(), scale, nullptr);
    const auto gradients = device->gradients();
    return std::count(gradients.begin(), gradients.end(), 0.0F);
  };
  EXPECT_LT(lost(1.0F), lost(1e-7F)) << "what is below 2^-24 is zero";
  const auto device = on_device("mlp", kSize, nullptr, Precision::fp16);
  device->train_step(batch.view(), 1e9F, nullptr);
  const auto gradients = device->gradients();
  EXPECT_TRUE(std::any_of(gradients.begin(), gradients.end(), [](float g) { return !std::isfinite(g); }))
      << "what is above 65504 is infinite, which the loss scaler then sees";
}

/// resnet20 for training on a device with so much memory; empty, or why not.
std::string refusal_with(size_t memory, int batch, Network** made = nullptr, bool growth = false,
                         bool narrow_sums = false, bool evaluates = false) {
  static std::unique_ptr<Network> kept;
  NetworkOptions options;
  options.model = "resnet20";
  options.classes = kClasses;
  options.image_size = 32;
  options.batch = batch;
  options.memory_growth = growth;
  options.narrow_sums = narrow_sums;
  options.evaluates = evaluates;
  auto graph = build_model(options.model, options.image_size, kClasses);
  try {
    kept = std::make_unique<GraphNetwork>(options, std::move(graph), test::make_host_cuda_of(memory));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    return error.what();
  }
  if (made != nullptr) *made = kept.get();
  return "";
}

TEST(CudaNetworkMemory, NamesTheBatchThatFits) {
  constexpr size_t kMemory = size_t{40} << 20U;
  const std::string text = refusal_with(kMemory, 256);
  EXPECT_NE(text.find("out of GPU memory: a batch of 256 needs "), std::string::npos) << text;
  EXPECT_NE(text.find(" of 40 MiB"), std::string::npos) << text;
  const std::string before = "Use --batch-size ";
  ASSERT_NE(text.find(before), std::string::npos) << text;
  const int fits = std::stoi(text.substr(text.find(before) + before.size()));
  EXPECT_GT(fits, 1);
  EXPECT_LT(fits, 256);
  EXPECT_EQ(refusal_with(kMemory, fits), "");
  EXPECT_NE(refusal_with(kMemory, fits + 1), "") << "it was not the largest";
  EXPECT_NE(refusal_with(size_t{4800} << 10U, 8).find("Not even one image fits"), std::string::npos);
}

TEST(CudaNetworkMemory, IsEnoughForKernelsThatAreChosenByTime) {
  constexpr size_t kRoom = size_t{40} << 20U;
  constexpr size_t kMore = size_t{8} << 20U;
  const auto graph = build_model("resnet20", 32, 10);
  const Purpose purpose{.batch = 1, .training = true};
  const auto usual = test::make_host_cuda();
  const auto timed = test::make_host_cuda_with({.timed_scratch = kMore});
  const int fits = largest_batch(*graph, *timed, purpose, kRoom, 256);
  EXPECT_GT(fits, 0);
  EXPECT_LT(fits, largest_batch(*graph, *usual, purpose, kRoom, 256));
  Purpose named = purpose;
  named.batch = fits;
  EXPECT_LE(program_bytes(*graph, *timed, named).value(), kRoom);
  EXPECT_EQ(largest_batch(*graph, *timed, purpose, kMore, 256), 0);
}

TEST(CudaNetworkMemory, IsLeftForGradientsThatTravelAsBf16) {
  const auto fits = [](size_t memory, bool narrow_sums) {
    const std::string text = refusal_with(memory, 256, nullptr, false, narrow_sums);
    const std::string before = "Use --batch-size ";
    return std::stoi(text.substr(text.find(before) + before.size()));
  };
  Network* network = nullptr;
  ASSERT_EQ(refusal_with(size_t{40} << 20U, 1, &network), "");
  const size_t narrow = network->weights().size_bytes() / 2;
  // Of what is free, a 64th is left to the device.
  const size_t more = narrow + narrow / 63;
  int smaller = 0;
  for (size_t memory = size_t{40} << 20U; memory < size_t{42} << 20U; memory += size_t{256} << 10U) {
    EXPECT_EQ(fits(memory + more, true), fits(memory, false)) << memory;
    if (fits(memory, true) < fits(memory, false)) ++smaller;
  }
  EXPECT_GT(smaller, 0);
}

TEST(CudaNetworkMemory, IsCounted) {
  Network* network = nullptr;
  ASSERT_EQ(refusal_with(size_t{1} << 30U, 4, &network), "");
  const auto figures = network->device_memory();
  ASSERT_TRUE(figures);
  EXPECT_GE(figures->used, network->memory_bytes());
  EXPECT_GE(figures->peak, figures->used);
  EXPECT_EQ(figures->free + figures->used, figures->total);
  EXPECT_FALSE(test::network("mlp", kClasses, 8, 2)->device_memory());
}

TEST(CudaNetworkMemory, IsTakenBeforeTheFirstStepOrWithIt) {
  constexpr int kImages = 4;
  const RandomBatch batch(kImages, 32, kClasses, 3);
  const auto used = [](Network& network) { return network.device_memory()->used; };
  Network* network = nullptr;
  ASSERT_EQ(refusal_with(size_t{1} << 30U, kImages, &network), "");
  EXPECT_EQ(network->memory_to_come(), 0U);
  const uint64_t whole = used(*network);
  network->train_step(batch.view(), 0.25F, nullptr);
  EXPECT_LT(used(*network) - whole, 4096U) << "beside what the loss is brought back in";
  const std::vector<float> gradients(network->gradients().begin(), network->gradients().end());

  ASSERT_EQ(refusal_with(size_t{1} << 30U, kImages, &network, true), "");
  const size_t to_come = network->memory_to_come();
  EXPECT_GT(to_come, size_t{1} << 20U);
  EXPECT_EQ(used(*network) + to_come, whole);
  // An evaluation before the first step takes what it needs, less than the step.
  std::vector<float> logits(size_t{kImages} * kClasses);
  network->evaluate(batch.view(), logits);
  EXPECT_LT(used(*network), whole);
  network->train_step(batch.view(), 0.25F, nullptr);
  EXPECT_GE(used(*network), whole);
  EXPECT_EQ(network->memory_to_come(), 0U);
  EXPECT_TRUE(std::ranges::equal(network->gradients(), gradients));
}

TEST(CudaNetworkMemory, OfEvaluationsIsTakenBeforeABatchIsJudged) {
  constexpr int kImages = 4;
  const RandomBatch batch(kImages, 32, kClasses, 3);
  std::vector<float> logits(size_t{kImages} * kClasses);
  const auto taken_by_evaluating = [&](bool evaluates) {
    Network* network = nullptr;
    EXPECT_EQ(refusal_with(size_t{1} << 30U, kImages, &network, false, false, evaluates), "");
    network->train_step(batch.view(), 0.25F, nullptr);
    const uint64_t before = network->device_memory()->used;
    network->evaluate(batch.view(), logits);
    return network->device_memory()->used - before;
  };
  EXPECT_GT(taken_by_evaluating(false), size_t{1} << 20U);
  EXPECT_LT(taken_by_evaluating(true), 4096U) << "beside what the loss is brought back in";
  // A batch at the limit, and what was not there for its evaluation.
  constexpr size_t kMemory = size_t{40} << 20U;
  const std::string text = refusal_with(kMemory, 256, nullptr, false, false, true);
  const std::string before = "Use --batch-size ";
  ASSERT_NE(text.find(before), std::string::npos) << text;
  const int fits = std::stoi(text.substr(text.find(before) + before.size()));
  Network* network = nullptr;
  ASSERT_EQ(refusal_with(kMemory, fits, &network, false, false, true), "");
  const RandomBatch large(fits, 32, kClasses, 3);
  logits.resize(static_cast<size_t>(fits) * kClasses);
  EXPECT_NO_THROW(network->evaluate(large.view(), logits));
}

TEST(CudaNetworkMemory, ThatIsMissingIsNamedByTheFirstStepToo) {
  Network* network = nullptr;
  ASSERT_EQ(refusal_with(size_t{40} << 20U, 256, &network, true), "");
  const RandomBatch batch(256, 32, kClasses, 3);
  try {
    network->train_step(batch.view(), 1, nullptr);
    FAIL() << "more memory than there is";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_NE(std::string(error.what()).find("Use --batch-size "), std::string::npos) << error.what();
  }
}

TEST(CudaNetworkElements, OfOneTensorAreNotMoreThanKernelsCount) {
  const auto largest = [](const char* model, int size) {
    return batch_of_elements(*build_model(model, size, kClasses), cuda::kMostElements);
  };
  EXPECT_EQ(largest("resnet20", 32), 131072);
  EXPECT_EQ(largest("resnet50", 224), 2674);
  EXPECT_EQ(batch_of_elements(*build_model("mlp", 8, kClasses), SIZE_MAX), std::numeric_limits<int>::max());
}

TEST(CudaNetworkElements, ThatAreTooManyAreRefusedWithABatchThatFits) {
  const std::string before = "Use --batch-size ";
  const auto named = [&](const std::string& text) {
    const size_t at = text.find(before);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + before.size()));
  };
  // Memory for all of it: what is counted with 32 bits is the limit.
  const std::string counted = refusal_with(size_t{1} << 40U, 131073);
  EXPECT_EQ(counted.find("a batch of 131073 has a tensor of 2147500032 elements (the output of conv1), and this back "
                         "end takes 2147483648 at most. Use --batch-size 131072, which fits"),
            0U)
      << counted;
  // Memory for less: what is named fits both.
  constexpr size_t kMemory = size_t{40} << 20U;
  const int fits = named(refusal_with(kMemory, 200000));
  EXPECT_GT(fits, 1);
  EXPECT_EQ(refusal_with(kMemory, fits), "");
  EXPECT_NE(refusal_with(kMemory, fits + 2), "") << "far from the largest";
  EXPECT_EQ(refusal_with(kMemory, 200000, nullptr, true).substr(0, 28), "a batch of 200000 has a tens") << "at once";
}

TEST(CudaNetworkElements, AreLookedAtBeforeAnEvaluationToo) {
  NetworkOptions options{.model = "resnet20", .classes = kClasses, .image_size = 32, .batch = 131073};
  options.training = false;
  GraphNetwork large(options, build_model("resnet20", 32, kClasses), test::make_host_cuda());
  std::vector<float> logits(kClasses);
  try {
    large.evaluate(RandomBatch(1, 32, kClasses, 3).view(), logits);
    FAIL() << "a tensor that kernels cannot count";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_NE(std::string(error.what()).find("Use --batch-size 131072, which fits"), std::string::npos) << error.what();
  }
}

TEST(CudaNetworkOverRanks, StatisticsPassThroughTheHost) {
  const RandomBatch batch(kBatch, 8, kClasses, 11);
  test::Twin twin;
  const auto alone = on_device("resnet20", 8);
  const auto both = on_device("resnet20", 8, &twin);
  const double want = alone->train_step(batch.view(), 0.25F, nullptr).loss_sum;
  const double got = both->train_step(batch.view(), 0.25F, nullptr).loss_sum;
  EXPECT_GT(twin.counts.size(), 0U);
  EXPECT_NEAR(got, want, 1e-9);
  EXPECT_LT(distance(both->gradients(), alone->gradients()), 1e-9);
  // Of twice as many numbers the unbiased variance is smaller, and nothing else differs.
  EXPECT_GT(distance(both->running_statistics(), alone->running_statistics()), 1e-6);
}

}  // namespace
}  // namespace trainyard
