// How many kernels a training step of resnet50 launches on the CUDA back end, and how many bytes they
// must move: counted on the host, where nothing is computed.
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "tests/models/support.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"

namespace trainyard {
namespace {

/// Launches and bytes by kernel of one training step of resnet50 with SGD, at 224 pixels.
test::Tape::Counted step_of_resnet50(int batch, Precision precision, bool plain = false) {
  test::Tape::Counted counted;
  test::HostKernels kernels{.plain = plain, .counted = [&counted](const auto& now) { counted = now; }};
  NetworkOptions options;
  options.model = "resnet50";
  options.image_size = 224;
  options.classes = 1000;
  options.batch = batch;
  options.precision = precision;
  options.record_steps = false;
  auto backend = test::make_host_cuda_with(std::move(kernels));
  Backend& device = *backend;
  GraphNetwork network(options, build_model(options.model, options.image_size, options.classes), std::move(backend));
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& tensor : network.parameters()) {
    ranges.push_back({.offset = tensor.offset, .size = tensor.size, .decay = tensor.decay});
  }
  DeviceOptimizer* optimizer = network.train_on_device({}, ranges, {".momentum"});
  const test::RandomBatch images(batch, options.image_size, options.classes, 1);
  test::Tape::Counted before;
  for (int64_t step = 1; step <= 2; ++step) {
    device.synchronize();
    before = counted;
    static_cast<Network&>(network).train_step(images.view(), 1, nullptr);
    optimizer->step(0.1F, step);
  }
  device.synchronize();
  for (auto& [kernel, figures] : counted) {
    figures.first -= before[kernel].first;
    figures.second -= before[kernel].second;
  }
  return counted;
}

size_t launches_of(const test::Tape::Counted& counted) {
  size_t launches = 0;
  for (const auto& [kernel, figures] : counted) launches += figures.first;
  return launches;
}

TEST(StepOfResnet50, TakesFewLaunches) {
  const size_t few = launches_of(step_of_resnet50(1, Precision::bf16));
  const size_t plain = launches_of(step_of_resnet50(1, Precision::bf16, true));
  std::printf("launches a step of resnet50: %zu, of plain kernels %zu\n", few, plain);
  EXPECT_LE(few, 433U);
  EXPECT_GT(plain, 2 * few);
}

TEST(StepOfResnet50, MovesNoMoreThanItsPlan) {
  // Activations go with the batch and weights do not: two batches give the line. They are large
  // enough for each multiprocessor to have a tile of our products, which write sums for each.
  constexpr int kSmall = 24;
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
    const auto one = step_of_resnet50(kSmall, precision);
    const auto two = step_of_resnet50(kSmall + 1, precision);
    double all = 0;
    std::printf("| batch 256, %s | launches | GB |\n", precision_name(precision));
    for (const auto& [kernel, figures] : two) {
      const double slope = static_cast<double>(figures.second) - static_cast<double>(one.at(kernel).second);
      const double bytes = static_cast<double>(one.at(kernel).second) + (256 - kSmall) * slope;
      all += bytes;
      EXPECT_GT(figures.second, 0U) << kernel << " has no bytes in traffic.h";
      std::printf("| %s | %zu | %.2f |\n", kernel.c_str(), figures.first, bytes / 1e9);
    }
    std::printf("| all | %zu | %.1f |\n", launches_of(two), all / 1e9);
    if (precision != Precision::fp32) EXPECT_LT(all, 70e9);
  }
}

}  // namespace
}  // namespace trainyard
