// One training step against what scripts/oracle/make_reference.py recorded of PyTorch: no tensor
// may lie further from float64 than twice PyTorch's own float32 does, or in the cases of 16 bits
// its autocast to bfloat16 or float16.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/models/formula.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/base/parallel.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {
namespace {

/// One line of a fixture.
struct Recorded {
  size_t size = 0;
  double length = 0;           ///< of the float64 tensor
  double distance = 0;         ///< of PyTorch's float32 or bfloat16 from it, the largest of its paths
  std::vector<double> values;  ///< projections; for logits and loss the numbers themselves
};

struct Fixture {
  int size = 0;
  int classes = 0;
  int batch = 0;
  uint64_t salt = 0;
  int tile = 0;                                                     ///< pixels a side of the piece that images repeat
  std::map<std::pair<std::string, std::string>, Recorded> tensors;  // by kind and name
};

Fixture load(const std::string& model) {
  const std::string path = std::string(TRAINYARD_FIXTURES) + "/oracle/" + model + ".txt";
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  Fixture fixture;
  std::string line, word, tile;
  std::getline(file, line);
  std::istringstream(line) >> word >> word >> word >> fixture.size >> word >> fixture.classes >> word >>
      fixture.batch >> word >> fixture.salt >> word >> tile;
  fixture.tile = word == "tile" ? std::stoi(tile) : fixture.size;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string kind, name;
    Recorded recorded;
    fields >> kind >> name >> recorded.size >> recorded.length >> recorded.distance;
    for (double value = 0; fields >> value;) recorded.values.push_back(value);
    fixture.tensors[{kind, name}] = std::move(recorded);
  }
  return fixture;
}

/// Whose ops compute the step. `device`: the CUDA back end's, played on the host.
enum class Ops { cpu, device };

class Oracle : public testing::TestWithParam<std::tuple<std::string, int, Ops>> {
 protected:
  ~Oracle() override { set_threads(1); }

  /// Whether the fixture holds tensors of a kind.
  bool holds(const std::string& kind) const {
    const auto found = fixture_.tensors.lower_bound({kind, ""});
    return found != fixture_.tensors.end() && found->first.first == kind;
  }

  const Recorded& recorded(const std::string& kind, const std::string& name) {
    const auto found = fixture_.tensors.find({kind, name});
    if (found == fixture_.tensors.end()) throw std::runtime_error("PyTorch has no " + kind + " " + name);
    ++compared_;
    return found->second;
  }

  void expect_near_float64(const std::string& kind, const std::string& name, double distance, const Recorded& want) {
    // One rounding of the whole tensor is what any fp32 result may differ by.
    const double least = want.length * 0x1p-24;
    // PyTorch summed in lanes of AVX-512. Of the CPU's sums in half as many lanes, the worst was
    // 2.1 times as far on a processor with AVX2.
    const double times = std::get<Ops>(GetParam()) == Ops::cpu && !test::has_avx512() ? 4 : 2;
    EXPECT_LE(distance, times * std::max(want.distance, least)) << kind << " " << name << ", of length " << want.length;
  }

  void compare_numbers(const std::string& kind, const std::string& name, std::span<const double> got) {
    const Recorded& want = recorded(kind, name);
    ASSERT_EQ(got.size(), want.values.size()) << kind << " " << name;
    double squares = 0;
    for (size_t i = 0; i < got.size(); ++i) squares += std::pow(got[i] - want.values[i], 2);
    expect_near_float64(kind, name, std::sqrt(squares), want);
  }

  /// The length of a difference, estimated from its projections: with 64 of them to within 9 % (one
  /// standard deviation), with 32 to within 13 %.
  void compare_tensor(const std::string& kind, const std::string& name, std::span<const float> got) {
    const Recorded& want = recorded(kind, name);
    ASSERT_EQ(got.size(), want.size) << kind << " " << name;
    ASSERT_GE(want.values.size(), test::kProjections / 2);
    const auto ours = test::projections(name, got);
    double squares = 0;
    for (size_t j = 0; j < want.values.size(); ++j) squares += std::pow(ours.at(j) - want.values[j], 2);
    expect_near_float64(kind, name, std::sqrt(squares / static_cast<double>(want.values.size())), want);
  }

  Fixture fixture_;
  size_t compared_ = 0;
};

/// One step with the optimizer of the case: what scripts/oracle/make_reference.py ran.
std::pair<OptimizerOptions, float> recipe(const std::string& name) {
  if (name == "adam") return {{.kind = "adam", .weight_decay = 1e-4, .epsilon = 1e-3}, 0.01F};
  if (name == "lars") return {{.kind = "lars", .weight_decay = 1e-4, .momentum = 0.9, .trust = 0.001}, 2.0F};
  return {{.kind = "sgd", .weight_decay = 1e-4, .momentum = 0.9}, 0.1F};
}

Precision precision_of(const std::string& variant) {
  if (variant == "bf16") return Precision::bf16;
  return variant == "fp16" ? Precision::fp16 : Precision::fp32;
}

/// The loss of fp16 is scaled by it, as in the fixture.
float loss_scale(Precision precision) { return precision == Precision::fp16 ? 64 : 1; }

/// The case "resnet18_adam" is model resnet18 and optimizer adam, "resnet18_bf16" the same model
/// with sgd in bf16; without more it is sgd in fp32.
TEST_P(Oracle, StepsAsPyTorchDoes) {
  const auto& [name, threads, ops] = GetParam();
  set_threads(threads);
  fixture_ = load(name);
  const std::string largest = "inception_v3";
  const std::string model = name.starts_with(largest) ? largest : name.substr(0, name.find('_'));
  const std::string variant = name.substr(model.size() + (model == name ? 0 : 1));
  // Without AVX-512 bf16 is refused. In inception_v3 in fp32 one number that falls on the other
  // side of a ReLU than PyTorch's changes a branch's gradients by 67 times PyTorch's rounding.
  if (ops == Ops::cpu && !test::has_avx512() && (variant == "bf16" || model == largest)) {
    GTEST_SKIP() << test::kNeedsAvx512;
  }
  NetworkOptions asked{.model = model, .classes = fixture_.classes, .image_size = fixture_.size};
  asked.batch = fixture_.batch;
  asked.precision = precision_of(variant);
  if (model == largest) asked.dropout = 0;
  const auto net = ops == Ops::cpu
                       ? make_network(asked)
                       : std::make_unique<GraphNetwork>(asked, build_model(model, fixture_.size, fixture_.classes),
                                                        test::make_host_cuda());
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& info : net->parameters()) {
    test::fill_by_formula(info, net->weights().subspan(info.offset, info.size));
    ranges.push_back({.offset = info.offset, .size = info.size, .adapt = info.decay});
  }
  net->weights_changed();
  const test::RandomBatch batch =
      test::batch_by_formula(fixture_.batch, fixture_.size, fixture_.classes, fixture_.salt, fixture_.tile);
  const float scale = loss_scale(asked.precision);
  const StepResult step = net->train_step(batch.view(), scale / static_cast<float>(fixture_.batch), nullptr);
  for (float& gradient : net->gradients()) gradient /= scale;
  const double loss = step.loss_sum / fixture_.batch;
  if (holds("loss")) compare_numbers("loss", "training", std::span(&loss, 1));

  const auto [options, rate] = recipe(variant);
  const auto optimizer = make_optimizer(options, ranges, net->weights().size());
  optimizer->step(net->weights(), net->gradients(), rate, 1);
  const std::span<const float> state = optimizer->state().front().values;
  net->weights_changed();
  for (const TensorInfo& info : net->parameters()) {
    if (holds("momentum")) compare_tensor("momentum", info.name, state.subspan(info.offset, info.size));
    if (holds("weight")) compare_tensor("weight", info.name, net->weights().subspan(info.offset, info.size));
  }
  for (const TensorInfo& info : net->statistics()) {
    if (!holds("statistic")) break;
    compare_tensor("statistic", info.name, net->running_statistics().subspan(info.offset, info.size));
  }
  if (holds("logits")) {
    std::vector<float> logits(static_cast<size_t>(fixture_.batch) * fixture_.classes);
    net->evaluate(batch.view(), logits);
    compare_numbers("logits", "evaluation", std::vector<double>(logits.begin(), logits.end()));
  }
  // All that PyTorch has but the logits of training, which a network keeps to itself.
  EXPECT_GT(compared_, 0U);
  EXPECT_EQ(compared_, fixture_.tensors.size() - (holds("logits") ? 1 : 0));
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Oracle,
                         testing::Combine(testing::Values("resnet18", "resnet20", "mlp", "resnet18_adam",
                                                          "resnet18_lars", "resnet50", "resnet18_bf16",
                                                          "resnet50_bf16"),
                                          testing::Values(1, 2), testing::Values(Ops::cpu)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param)) + "threads";
                         });

// The largest model, once in each precision: seconds of one core a step.
INSTANTIATE_TEST_SUITE_P(PyTorchInception, Oracle,
                         testing::Combine(testing::Values("inception_v3", "inception_v3_bf16"), testing::Values(2),
                                          testing::Values(Ops::cpu)),
                         [](const auto& info) { return std::get<0>(info.param) + "_2threads"; });

// The kernels of a whole network on a device, whose convolutions are summed in double here.
INSTANTIATE_TEST_SUITE_P(PyTorchDevice, Oracle,
                         testing::Combine(testing::Values("resnet50", "resnet50_bf16", "resnet50_fp16"),
                                          testing::Values(1), testing::Values(Ops::device)),
                         [](const auto& info) { return std::get<0>(info.param); });

}  // namespace
}  // namespace trainyard
