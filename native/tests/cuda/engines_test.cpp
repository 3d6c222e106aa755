// Without a device cuDNN still plans for one whose properties it is given: for every convolution of
// our models there is an engine for each precision that sums in fp32 and gives the same bits every
// time, and its plan can be made. Those of resnet50 and inception_v3 stand in
// docs/cudnn-engines.md.
#include "trainer/ops/cuda/library/cudnn/engines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "common/error.h"
#include "tests/cuda/throwing.h"
#include "trainer/layers/program.h"
#include "trainer/models/builders.h"
#include "trainer/ops/cuda/library/cudnn/convolution.h"
#include "trainer/ops/cuda/ops_backend.h"

namespace trainyard {
namespace {

/// The convolutions that a model asks for; nothing is computed.
class Recorder final : public cuda::OpsBackend {
 public:
  Recorder() {
    device_.launcher = cuda::kThrowing;
    device_.memory = this;
    device_.plan_convolution = [this](const Conv2dParams& params) {
      asked.push_back(params);
      return std::make_unique<Nothing>();
    };
    device_.make_uploads = [](size_t) { return nullptr; };
  }
  std::string name() const override { return "recorder"; }
  std::unique_ptr<BackendMemory> allocate(size_t bytes) override { return std::make_unique<NoMemory>(bytes); }
  void to_host(void*, const void*, size_t) override {}
  void from_host(void*, const void*, size_t) override {}
  void synchronize() override {}

  std::vector<Conv2dParams> asked;

 private:
  class NoMemory final : public BackendMemory {
   public:
    explicit NoMemory(size_t bytes) : bytes_(bytes) {}
    std::byte* data() const override { return nullptr; }
    size_t bytes() const override { return bytes_; }

   private:
    size_t bytes_;
  };
  class Nothing final : public cuda::ConvolutionPlans {
   public:
    std::string description() const override { return ""; }
    size_t forward_scratch_bytes() const override { return 0; }
    size_t backward_data_scratch_bytes() const override { return 0; }
    size_t backward_weights_scratch_bytes() const override { return 0; }
    void forward(const void*, const void*, void*, void*) override {}
    void backward_data(const void*, const void*, void*, void*) override {}
    void backward_weights(const void*, const void*, void*, void*) override {}
  };
};

/// A GPU's properties in cuDNN's JSON, tests/cuda/gpus/NAME.json: from NVIDIA's data sheets and the
/// CUDA programming guide's table of compute capabilities, until scripts/gpu/proof.py has recorded
/// those of a real one.
std::string properties_of(const std::string& name) {
  std::ifstream file(TRAINYARD_GPUS + ("/" + name + ".json"));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What a network computes with: what it stores, and how convolutions may be computed.
struct Kind {
  const char* name;
  DType stored;
  cuda::Arithmetic arithmetic;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list{{"fp32", DType::f32, cuda::Arithmetic::exact},
                                      {"tf32", DType::f32, cuda::Arithmetic::tf32},
                                      {"bf16", DType::bf16, cuda::Arithmetic::narrow},
                                      {"fp16", DType::f16, cuda::Arithmetic::narrow}};
  return list;
}

const std::vector<std::string>& gpus() {
#if CUDNN_VERSION < 91100  // the last with Volta
  static const std::vector<std::string> list{"sm_70", "sm_80", "sm_90"};
#else
  static const std::vector<std::string> list{"sm_80", "sm_90"};
#endif
  return list;
}

/// Volta has neither tf32 nor bf16.
bool has_kind(const std::string& gpu, const Kind& kind) {
  return gpu != "sm_70" || kind.arithmetic == cuda::Arithmetic::exact || kind.stored == DType::f16;
}

/// A layer, as it is written in the table.
std::string text_of(const Conv2dParams& p) {
  const auto pair = [](int a, int b) { return std::to_string(a) + (a == b ? "" : "x" + std::to_string(b)); };
  return std::to_string(p.input.shape.c) + " x " + pair(p.input.shape.h, p.input.shape.w) + " to " +
         std::to_string(p.out_channels) + ", " + pair(p.kernel_h, p.kernel_w) + " /" + pair(p.stride_h, p.stride_w) +
         (p.pad_h + p.pad_w > 0 ? ", pad " + pair(p.pad_h, p.pad_w) : "");
}

/// In fp32 and in bf16, where a stem goes by space to depth.
std::vector<Conv2dParams> convolutions(int batch, const Graph& graph) {
  Recorder recorder;
  for (const DType storage : {DType::f32, DType::bf16}) {
    const Program program(graph, recorder, Purpose{.batch = batch, .training = true, .storage = storage});
  }
  return recorder.asked;
}

/// Of several models, each layer once.
std::vector<Conv2dParams> layers(int batch, bool all_models) {
  struct Shape {
    std::string model;
    int image_size;
    int classes;
  };
  std::vector<Shape> shapes{{"resnet50", 224, 1000}, {"inception_v3", 299, 1000}};
  if (all_models) shapes.insert(shapes.end(), {{"resnet20", 32, 10}, {"resnet18", 224, 1000}});
  std::vector<Conv2dParams> found;
  std::map<std::string, bool> seen;
  for (const Shape& shape : shapes) {
    for (const Conv2dParams& params : convolutions(batch, *build_model(shape.model, shape.image_size, shape.classes))) {
      if (std::exchange(seen[text_of(params)], true)) continue;
      found.push_back(params);
    }
  }
  return found;
}

cuda::Descriptor describe(const std::string& gpu) {
  const std::string text = properties_of(gpu);
  cuda::Descriptor properties(cuda::kThrowing, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.raw(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, text.size(), text.data());
  properties.finalize();
  return properties;
}

/// The engines of one layer for forward, data and weights: "40 41 20", with a star where it has no
/// tensor cores though they may be used.
std::string engines_of(const Conv2dParams& layer, const Kind& kind, const cuda::Descriptor& properties) {
  Conv2dParams params = layer;
  params.input.dtype = kind.stored;
  const cuda::Target target{nullptr, &properties};
  std::string text;
  for (const cuda::Pass pass : {cuda::Pass::forward, cuda::Pass::backward_data, cuda::Pass::backward_weights}) {
    if (pass == cuda::Pass::backward_data && !params.input_gradient) {
      text += " -";
      continue;
    }
    const std::string name = text_of(params) + ", pass " + std::to_string(static_cast<int>(pass)) + " in " + kind.name;
    const auto graph = cuda::convolution_graph(cuda::kThrowing, nullptr, params, pass);
    const auto plan = cuda::choose_plan(cuda::kThrowing, target, graph, kind.arithmetic);
    EXPECT_TRUE(plan.has_value()) << name;
    if (!plan) {
      text += " none";
      continue;
    }
    EXPECT_LE(plan->workspace, size_t{1} << 30U) << name;
    EXPECT_FALSE(plan->transforms) << name;
    if (kind.arithmetic == cuda::Arithmetic::exact) EXPECT_FALSE(plan->tensor_cores) << name;
    const bool slow = kind.arithmetic != cuda::Arithmetic::exact && !plan->tensor_cores;
    text += " " + plan->name.substr(plan->name.find(' ') + 1) + (slow ? "*" : "");
  }
  return text.substr(1);
}

class Engines : public testing::TestWithParam<std::tuple<size_t, size_t>> {};
INSTANTIATE_TEST_SUITE_P(Gpus, Engines,
                         testing::Combine(testing::Range<size_t>(0, gpus().size()),
                                          testing::Range<size_t>(0, kinds().size())),
                         [](const auto& info) {
                           return gpus()[std::get<0>(info.param)] + "_" + kinds()[std::get<1>(info.param)].name;
                         });

TEST_P(Engines, ExistForEveryConvolutionOfEveryModel) {
  const cuda::Descriptor properties = describe(gpus()[std::get<0>(GetParam())]);
  const Kind& kind = kinds()[std::get<1>(GetParam())];
  if (!has_kind(gpus()[std::get<0>(GetParam())], kind)) return;
  const auto all = layers(1, true);
  EXPECT_GE(all.size(), 80U);
  for (const Conv2dParams& layer : all) engines_of(layer, kind, properties);
}

/// Takes the candidate of this place, or the last, and remembers what it was asked.
class Scripted final : public PlanChooser {
 public:
  explicit Scripted(size_t most, size_t place) : most_(most), place_(place) {}
  size_t most_candidates() const override { return most_; }
  std::string chosen(const PlanQuestion& /*question*/) override { return before; }
  size_t choose(const PlanQuestion& /*question*/, const std::vector<std::string>& candidates,
                const PlanTimer& milliseconds) override {
    offered = candidates;
    const size_t taken = std::min(place_, candidates.size() - 1);
    EXPECT_EQ(milliseconds(taken), static_cast<double>(taken));
    return taken;
  }

  std::string before;
  std::vector<std::string> offered;

 private:
  size_t most_, place_;
};

class Tuned : public Engines {};
INSTANTIATE_TEST_SUITE_P(
    Gpus, Tuned, testing::Combine(testing::Range<size_t>(0, gpus().size()), testing::Range<size_t>(0, kinds().size())),
    [](const auto& info) { return gpus()[std::get<0>(info.param)] + "_" + kinds()[std::get<1>(info.param)].name; });

/// For some layers of resnet50: what --tune chooses from, that it takes what the chooser says, and
/// that the name of a choice leads back to it.
TEST_P(Tuned, TakeWhatTheChooserSays) {
  const std::string gpu = gpus()[std::get<0>(GetParam())];
  const Kind& kind = kinds()[std::get<1>(GetParam())];
  if (!has_kind(gpu, kind)) return;
  const cuda::Descriptor properties = describe(gpu);
  const cuda::Target target{nullptr, &properties};
  size_t graphs = 0;
  size_t several = 0;
  const auto asked = layers(64, false);
  for (size_t i = 0; i < asked.size() && asked[i].input.shape.h <= 224; i += 7) {
    Conv2dParams params = asked[i];
    params.input.dtype = kind.stored;
    for (const cuda::Pass pass : {cuda::Pass::forward, cuda::Pass::backward_data, cuda::Pass::backward_weights}) {
      if (pass == cuda::Pass::backward_data && !params.input_gradient) continue;
      const std::string name = text_of(params) + ", pass " + std::to_string(static_cast<int>(pass));
      const auto graph = cuda::convolution_graph(cuda::kThrowing, nullptr, params, pass);
      const auto plan_of = [&](Scripted& chooser) {
        const cuda::Tuning tuning{chooser, {"a GPU", "cuDNN", name}, [](const std::vector<cuda::Plan>&, size_t plan) {
                                    return static_cast<double>(plan);
                                  }};
        return cuda::tuned_plan(cuda::kThrowing, target, graph, kind.arithmetic, tuning);
      };
      const auto first = cuda::choose_plan(cuda::kThrowing, target, graph, kind.arithmetic);
      ASSERT_TRUE(first.has_value()) << name;
      Scripted chooser(4, 1);
      const auto second = plan_of(chooser);
      ASSERT_TRUE(second.has_value()) << name;
      const std::vector<std::string>& offered = chooser.offered;
      EXPECT_EQ(offered.front(), first->tag) << name << ": cuDNN's own choice is not the first";
      EXPECT_LE(offered.size(), 4U);
      EXPECT_EQ(std::set<std::string>(offered.begin(), offered.end()).size(), offered.size()) << name;
      EXPECT_EQ(second->tag, offered[std::min<size_t>(1, offered.size() - 1)]) << name;
      EXPECT_EQ(second->transforms, first->transforms) << name;
      if (kind.arithmetic == cuda::Arithmetic::exact) EXPECT_FALSE(second->tensor_cores) << name;
      for (const std::string& tag : offered) EXPECT_EQ(tag.find_first_of("\t\n"), std::string::npos) << tag;
      Scripted remembers(4, 0);
      remembers.before = offered.back();
      EXPECT_EQ(plan_of(remembers)->tag, offered.back()) << name;
      EXPECT_TRUE(remembers.offered.empty()) << name << ": was asked again";
      Scripted forgets(4, 0);
      forgets.before = "engine 9999";
      EXPECT_EQ(plan_of(forgets)->tag, first->tag) << name;
      EXPECT_EQ(forgets.offered, offered) << name << ": the candidates changed";
      ++graphs;
      several += offered.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GE(graphs, 8U);
  EXPECT_GE(several, graphs / 2) << "there is nothing to choose from";
}

#ifdef TRAINYARD_ENGINES_COMMITTED

/// The beginning of docs/cudnn-engines.md.
constexpr const char* kIntroduction = R"(# cuDNN's engines

This page names the engine that is taken for every convolution of resnet50 and inception_v3 at batch
64, on two kinds of GPU and in each precision.

- The three entries of a cell are the engines for forward, data gradient and weight gradient, as
  cuDNN numbers them.
- `*`: the engine computes without tensor cores, though they may be used.
- `-`: nobody needs that gradient.
- All engines sum in fp32 and give the same bits each time.

`test_cuda_engines` makes this page without a GPU, from a GPU's properties
(`TRAINYARD_ENGINES_TABLE=docs/cudnn-engines.md`).
)";

/// Written by this test where TRAINYARD_ENGINES_TABLE names a file.
TEST(EnginesTable, IsTheOneThatIsCommitted) {
  const size_t version = cudnnGetVersion();
  std::string table = kIntroduction;
  table += "\ncuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100) + "\n";
  const auto asked = layers(64, false);
  for (const std::string& gpu : gpus()) {
    const cuda::Descriptor properties = describe(gpu);
    table += "\n## " + gpu + "\n\n| channels x pixels to channels, window /stride |";
    std::string rule = "|---|";
    for (const Kind& kind : kinds()) {
      table += std::string(" ") + kind.name + " |";
      rule += "---|";
    }
    table += "\n" + rule + "\n";
    for (const Conv2dParams& layer : asked) {
      table += "| " + text_of(layer) + " |";
      for (const Kind& kind : kinds()) table += " " + engines_of(layer, kind, properties) + " |";
      table += "\n";
    }
  }
  if (const char* path = std::getenv("TRAINYARD_ENGINES_TABLE")) std::ofstream(path) << table;
  std::ifstream file(TRAINYARD_ENGINES_COMMITTED);
  const std::string committed((std::istreambuf_iterator<char>(file)), {});
  EXPECT_TRUE(committed == table) << "docs/cudnn-engines.md is of another cuDNN or other models. Make it anew with "
                                     "TRAINYARD_ENGINES_TABLE=docs/cudnn-engines.md";
}

#endif

}  // namespace
}  // namespace trainyard
