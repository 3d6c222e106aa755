// Without a device cuDNN still plans for one whose properties it is given: for every convolution of our models there is
// an engine that computes in plain fp32 and gives the same bits every time, and its plan can be made.
#include "trainer/ops/cuda/library/engines.h"

#include <gtest/gtest.h>

#include <string>

#include "common/error.h"
#include "trainer/layers/program.h"
#include "trainer/models/builders.h"
#include "trainer/models/inception.h"
#include "trainer/ops/cuda/library/convolution.h"
#include "trainer/ops/cuda/ops_backend.h"

namespace trainyard {
namespace {

const cuda::Launcher kLauncher{nullptr,
                               [](int code, const char* message) { throw Error(static_cast<Exit>(code), message); }};

/// The convolutions that a model asks for; nothing is computed.
class Recorder final : public cuda::OpsBackend {
 public:
  Recorder() {
    device_.launcher = kLauncher;
    device_.memory = this;
    device_.plan_convolution = [this](const Conv2dParams& params) {
      asked.push_back(params);
      return std::make_unique<Nothing>();
    };
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

struct Gpu {
  const char* name;
  int version, multiprocessors, shared_memory, bus, l2;
};

/// Properties from NVIDIA's data sheets and the CUDA programming guide's table of compute capabilities, in cuDNN's
/// JSON.
std::string properties_of(const Gpu& gpu) {
  const auto field = [](const char* name, long long value) {
    return "\"" + std::string(name) + "\":" + std::to_string(value) + ",";
  };
  return "{" + field("deviceVer", gpu.version) + field("driverVer", 13000) + field("cudaDeviceId", 0) +
         field("totalGlobalMem", 80LL << 30) +
         R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)" + field("regsPerBlock", 65536) +
         field("multiProcessorCount", gpu.multiprocessors) + field("smCountOrigin", gpu.multiprocessors) +
         field("warpSize", 32) + field("maxSharedMemoryPerBlock", 49152) +
         field("maxSharedMemoryPerBlockOptin", gpu.shared_memory) +
         field("oversizedSharedMemoryPerBlock", gpu.shared_memory) + field("reservedSharedMemoryPerBlock", 1024) +
         field("maxRegistersPerSM", 65536) + field("maxCtasPerSM", 32) + field("maxThreadsPerBlock", 1024) +
         field("maxThreadsPerSM", 2048) + field("pciDeviceId", 0) + field("isTccDriver", 0) +
         field("supportCoopLaunch", 1) + field("smClockRateKHz", 1410000) + field("memClockRateKHz", 1593000) +
         field("memoryBusWidth", gpu.bus) + field("l2CacheSize", gpu.l2) + "\"deviceName\":\"" + gpu.name + "\"}";
}

class Engines : public testing::TestWithParam<Gpu> {};
INSTANTIATE_TEST_SUITE_P(Gpus, Engines,
                         testing::Values(Gpu{"NVIDIA A100-SXM4-80GB", 800, 108, 166912, 5120, 40 << 20},
                                         Gpu{"NVIDIA H100 80GB HBM3", 900, 132, 232448, 5120, 50 << 20}),
                         [](const auto& info) { return "sm_" + std::to_string(info.param.version / 10); });

TEST_P(Engines, ExactOnesExistForEveryConvolutionOfEveryModel) {
  const std::string text = properties_of(GetParam());
  cuda::Descriptor properties(kLauncher, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.raw(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, text.size(), text.data());
  properties.finalize();

  Recorder recorder;
  for (const int batch : {1, 64}) {
    Graph small;
    build_cifar_resnet(small, 3, 32, 10);
    const Program cifar(small, recorder, Purpose{batch, true});
    Graph large;
    build_resnet(large, Block::basic, {2, 2, 2, 2}, 224, 1000);
    const Program imagenet(large, recorder, Purpose{batch, true});
    Graph deep;
    build_resnet(deep, Block::bottleneck, {3, 4, 6, 3}, 224, 1000);
    const Program bottlenecks(deep, recorder, Purpose{batch, true});
    Graph inception;
    build_inception_v3(inception, 299, 1000);
    const Program branches(inception, recorder, Purpose{batch, true});
  }
  EXPECT_GE(recorder.asked.size(), 2 * (19U + 20U + 53U + 96U));
  for (const Conv2dParams& params : recorder.asked) {
    for (const cuda::Pass pass : {cuda::Pass::forward, cuda::Pass::backward_weights, cuda::Pass::backward_data}) {
      if (pass == cuda::Pass::backward_data && !params.input_gradient) continue;
      const auto graph = cuda::convolution_graph(kLauncher, nullptr, params, pass);
      const cuda::Target target{nullptr, &properties};
      const std::string name = to_string(params.input.shape) + " to " + std::to_string(params.out_channels) +
                               ", pass " + std::to_string(static_cast<int>(pass));
      const auto found = cuda::candidates(kLauncher, target, graph);
      ASSERT_FALSE(found.empty()) << name;
      EXPECT_FALSE(found[0].transforms) << name;
      const auto plan = cuda::choose_plan(kLauncher, target, graph);
      ASSERT_TRUE(plan.has_value()) << name;
      EXPECT_LE(plan->workspace, size_t{1} << 30U) << name;
    }
  }
}

}  // namespace
}  // namespace trainyard
