// Some updates of each optimizer against what scripts/oracle/optimizers.py recorded of PyTorch (and
// of LARS written in PyTorch): no tensor may lie further from float64 than twice PyTorch's own
// float32 does.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/models/formula.h"
#include "trainer/base/name_key.h"
#include "trainer/base/parallel.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {
namespace {

struct Recorded {
  double distance = 0;  ///< of PyTorch's float32 from float64
  std::vector<double> weights;
};

/// By run and tensor.
std::map<std::string, std::map<std::string, Recorded>> load() {
  const std::string path = std::string(TRAINYARD_FIXTURES) + "/oracle/optimizers.txt";
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::map<std::string, std::map<std::string, Recorded>> runs;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string run, name;
    size_t size = 0;
    fields >> run >> name >> size;
    Recorded& recorded = runs[run][name];
    fields >> recorded.distance;
    for (double value = 0; fields >> value;) recorded.weights.push_back(value);
    EXPECT_EQ(recorded.weights.size(), size) << line;
  }
  return runs;
}

struct Replay {
  const char* name;
  double lr;
  OptimizerOptions options;
};

/// RUNS of optimizers.py.
std::vector<Replay> replays() {
  return {{"sgd", 0.1, {.kind = "sgd", .weight_decay = 1e-4}},
          {"sgd_decaying_all", 0.1, {.kind = "sgd", .weight_decay = 5e-3, .decay_norm_and_bias = true}},
          {"lars", 2.0, {.kind = "lars", .weight_decay = 1e-4}},
          {"lars_trusting", 0.5, {.kind = "lars", .weight_decay = 5e-3, .decay_norm_and_bias = true, .trust = 0.02}},
          {"adam", 0.001, {.kind = "adam", .weight_decay = 1e-4}},
          {"adam_others",
           0.02,
           {.kind = "adam",
            .weight_decay = 5e-3,
            .decay_norm_and_bias = true,
            .beta1 = 0.8,
            .beta2 = 0.95,
            .epsilon = 1e-3}},
          {"adamw", 0.001, {.kind = "adamw", .weight_decay = 0.05}},
          {"adamw_others",
           0.02,
           {.kind = "adamw",
            .weight_decay = 0.5,
            .decay_norm_and_bias = true,
            .beta1 = 0.8,
            .beta2 = 0.95,
            .epsilon = 1e-3}}};
}

/// TENSORS there.
std::vector<TensorInfo> tensors() {
  std::vector<TensorInfo> list{
      {"conv1.weight", {6, 4, 3, 3}}, {"bn1.weight", {6}}, {"bn1.bias", {6}}, {"fc.weight", {5, 24}}, {"fc.bias", {5}}};
  size_t offset = 0;
  for (TensorInfo& info : list) {
    info.size = 1;
    for (const int64_t extent : info.shape) info.size *= static_cast<size_t>(extent);
    info.offset = offset;
    info.decay = info.shape.size() > 1;
    offset += info.size;
  }
  return list;
}

class OptimizerOracle : public testing::TestWithParam<Replay> {};

TEST_P(OptimizerOracle, UpdatesAsPyTorchDoes) {
  constexpr int kSteps = 5;
  const Replay& replay = GetParam();
  const auto recorded = load();
  ASSERT_TRUE(recorded.contains(replay.name));
  const std::vector<TensorInfo> infos = tensors();
  const size_t size = infos.back().offset + infos.back().size;
  std::vector<float> weights(size), gradients(size);
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& info : infos) {
    test::fill_by_formula(info, std::span(weights).subspan(info.offset, info.size));
    ranges.push_back({.offset = info.offset, .size = info.size, .adapt = info.decay});
  }
  const auto optimizer = make_optimizer(replay.options, ranges, size);
  for (int step = 0; step < kSteps; ++step) {
    for (const TensorInfo& info : infos) {
      Random random{name_key(info.name + "." + std::to_string(step))};
      for (float& g : std::span(gradients).subspan(info.offset, info.size)) g = 0.25F * test::unit(random);
    }
    optimizer->step(weights, gradients, static_cast<float>(replay.lr * (kSteps - step) / kSteps), step + 1);
  }
  for (const TensorInfo& info : infos) {
    const Recorded& want = recorded.at(replay.name).at(info.name);
    ASSERT_EQ(want.weights.size(), info.size) << info.name;
    double squares = 0, length = 0;
    for (size_t i = 0; i < info.size; ++i) {
      squares += std::pow(weights[info.offset + i] - want.weights[i], 2);
      length += std::pow(want.weights[i], 2);
    }
    // One rounding of the whole tensor is what any fp32 result may differ by.
    const double least = std::sqrt(length) * 0x1p-24;
    EXPECT_LE(std::sqrt(squares), 2 * std::max(want.distance, least)) << info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, OptimizerOracle, testing::ValuesIn(replays()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace trainyard
