// A rank's figures of GPU memory, where it has a second network for evaluations. The device is the
// host (tests/ops/host/host_cuda.h).
#include "trainer/train/process/gpu_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/models/support.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"

namespace trainyard {
namespace {

constexpr int kClasses = 4;
constexpr int kBatch = 2;

std::unique_ptr<Network> resnet20(int size, bool training) {
  const NetworkOptions options{
      .model = "resnet20", .classes = kClasses, .image_size = size, .batch = kBatch, .training = training};
  return std::make_unique<GraphNetwork>(options, build_model(options.model, size, kClasses), test::make_host_cuda());
}

TEST(GpuMemory, OfARankIsThatOfBothItsNetworks) {
  const auto trains = resnet20(16, true);
  const auto judges = resnet20(24, false);
  std::vector<float> logits(size_t{kBatch} * kClasses);
  judges->evaluate(test::RandomBatch(kBatch, 24, kClasses, 1).view(), logits);
  const MemoryFigures first = trains->device_memory().value();
  const MemoryFigures second = judges->device_memory().value();
  EXPECT_GE(second.used, judges->memory_bytes());
  RankFigures figures{.memory_used = 7};
  fill_gpu_memory(figures, memory_of_both(first, second));
  EXPECT_EQ(figures.memory_used, 7) << "what is the host's stays";
  EXPECT_EQ(figures.gpu_used, static_cast<double>(first.used + second.used));
  EXPECT_EQ(figures.gpu_peak, static_cast<double>(first.peak + second.peak));
  EXPECT_EQ(figures.gpu_free, static_cast<double>(first.free)) << "one device has it";
}

TEST(GpuMemory, OfARankWithOneNetworkIsThatOnes) {
  const MemoryFigures one{.used = 3, .peak = 5, .free = 7, .total = 10};
  RankFigures figures;
  fill_gpu_memory(figures, memory_of_both(one, std::nullopt));
  EXPECT_EQ(figures.gpu_used, 3);
  EXPECT_EQ(figures.gpu_peak, 5);
  EXPECT_EQ(figures.gpu_free, 7);
  RankFigures host;
  fill_gpu_memory(host, memory_of_both(std::nullopt, std::nullopt));
  EXPECT_EQ(host.gpu_peak, 0) << "a line of metrics leaves it out";
}

}  // namespace
}  // namespace trainyard
