// Optimizers as a device runs them, beside those of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ops/backends.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/norm.h"

namespace trainyard::test {
namespace {

/// Tensors that begin and end within the same table entry, and one of several blocks of sums.
std::vector<ParameterRange> tensors(const OptimizerOptions& options) {
  std::vector<ParameterRange> ranges;
  size_t offset = 0;
  for (const size_t size : {size_t{27}, size_t{3}, size_t{1}, size_t{20001}, size_t{256}, size_t{255}, size_t{700}}) {
    ranges.push_back({.offset = offset, .size = size, .adapt = size > 3});
    offset += size;
  }
  fill_decay(options, ranges);
  return ranges;
}

class DeviceUpdate : public testing::TestWithParam<std::tuple<const char*, bool>> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, DeviceUpdate,
                         testing::Combine(testing::Values("sgd", "lars", "adam", "adamw"), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_decays_all" : "_decays_weights");
                         });

TEST_P(DeviceUpdate, IsTheHosts) {
  OptimizerOptions options{.kind = std::get<0>(GetParam()), .weight_decay = 0.02};
  options.decay_norm_and_bias = std::get<1>(GetParam());
  const auto ranges = tensors(options);
  const size_t count = ranges.back().offset + ranges.back().size;
  const auto host = make_optimizer(options, ranges, count);
  Bench bench({"cuda_arithmetic", make_host_cuda, {}}, 1);
  const auto device = bench.backend().make_update({options, ranges});
  ASSERT_NE(device, nullptr);

  const std::vector<double> begin = random_numbers(count, 1);
  std::vector<float> want(begin.begin(), begin.end());
  float* got = bench.floats(begin);
  float* first = bench.floats(std::vector<double>(count, 0.0));
  float* second = bench.floats(std::vector<double>(count, 0.0));
  for (int64_t step = 1; step <= 4; ++step) {
    std::vector<double> gradients = random_numbers(count, static_cast<uint64_t>(step) + 1, 0, 0.1);
    if (step == 3) std::fill_n(gradients.begin() + 31, 20001, 0.0);  // a length of 0 says nothing to LARS
    host->step(want, std::vector<float>(gradients.begin(), gradients.end()), 0.05F, step);
    device->run(got, bench.floats(gradients), first, second, 0.05F, step);
  }
  // The host may fuse products with sums.
  expect_close(bench.read(got, count), {want.begin(), want.end()}, 1e-6, "weights");
  const auto state = host->state();
  expect_close(bench.read(first, count), {state[0].values.begin(), state[0].values.end()}, 1e-6, state[0].suffix);
  if (state.size() > 1) {
    expect_close(bench.read(second, count), {state[1].values.begin(), state[1].values.end()}, 1e-6, state[1].suffix);
  }
  EXPECT_NE(bench.read(got, count), begin);
}

TEST(DeviceLengths, AreTheHostsAndTellWhatIsNotFinite) {
  const OptimizerOptions options;
  const auto ranges = tensors(options);
  const size_t count = ranges.back().offset + ranges.back().size;
  Bench bench({"cuda_arithmetic", make_host_cuda, {}}, 1);
  const auto device = bench.backend().make_update({options, ranges});
  const std::vector<double> values = random_numbers(count, 5);
  const std::vector<float> host(values.begin(), values.end());
  const double length = squared_length(host);
  float* memory = bench.floats(values);
  EXPECT_NEAR(device->squared_length(memory), length, 1e-12 * length);
  device->scale(memory, 0.25F);
  EXPECT_NEAR(device->squared_length(memory), length / 16, 1e-12 * length);
  // The largest floats there are have a finite sum of squares; an infinite one, or none, has not,
  // wherever it stands.
  EXPECT_TRUE(std::isfinite(device->squared_length(bench.floats(std::vector<double>(count, 3e38)))));
  for (const size_t place : {size_t{0}, size_t{30}, size_t{12345}, count - 1}) {
    for (const double wrong : {std::numeric_limits<double>::infinity(), std::nan("")}) {
      std::vector<double> damaged = values;
      damaged[place] = wrong;
      EXPECT_FALSE(std::isfinite(device->squared_length(bench.floats(damaged)))) << place;
    }
  }
}

TEST(DeviceSums, BeginAnewOrGoOn) {
  Bench bench({"cuda_arithmetic", make_host_cuda, {}}, 1);
  const auto device = bench.backend().make_update({{}, {{.offset = 0, .size = 4}}});
  float* sums = bench.floats({std::nan(""), 1, 2, 3});
  float* values = bench.floats({10, 20, 30, 40});
  device->add(sums, values, 4, false);
  device->add(sums + 1, values + 1, 2, true);
  EXPECT_EQ(bench.read(sums, 4), (std::vector<double>{10, 40, 60, 40}));
}

TEST(DeviceUpdates, RefuseTensorsThatDoNotTouch) {
  Bench bench({"cuda_arithmetic", make_host_cuda, {}}, 1);
  EXPECT_ANY_THROW(bench.backend().make_update({{}, {{.offset = 0, .size = 4}, {.offset = 5, .size = 4}}}));
  EXPECT_ANY_THROW(bench.backend().make_update({{}, {{.offset = 0, .size = 0}}}));
  EXPECT_ANY_THROW(bench.backend().make_update({{.kind = "another"}, {{.offset = 0, .size = 4}}}));
  EXPECT_EQ(make_cpu_backend()->make_update({{}, {{.offset = 0, .size = 4}}}), nullptr);
}

}  // namespace
}  // namespace trainyard::test
