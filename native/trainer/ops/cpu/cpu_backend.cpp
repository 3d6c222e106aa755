#include <cstring>

#include "trainer/base/aligned_memory.h"
#include "trainer/ops/cpu/dnnl_support.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard {

namespace {

class CpuMemory final : public BackendMemory {
 public:
  explicit CpuMemory(size_t bytes) : memory_(bytes) {}
  std::byte* data() const override { return memory_.data(); }
  size_t bytes() const override { return memory_.bytes(); }
  void populate() override { memory_.populate(); }

 private:
  AlignedMemory memory_;
};

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }
  bool host_memory() const override { return true; }
  /// oneDNN takes bf16 from AVX-512 on; without AVX512-BF16 or AMX it converts to fp32 inside its
  /// kernels.
  bool stores(DType dtype) const override {
    if (dtype == DType::f16) return false;
    return dtype == DType::f32 || cpu::has_isa(dnnl_cpu_isa_avx512_core);
  }
  std::unique_ptr<BackendMemory> allocate(size_t bytes) override { return std::make_unique<CpuMemory>(bytes); }
  // Without a byte to copy an address may be null, which memcpy does not allow.
  void to_host(void* host, const void* memory, size_t bytes) override {
    if (bytes > 0) std::memcpy(host, memory, bytes);
  }
  void from_host(void* memory, const void* host, size_t bytes) override {
    if (bytes > 0) std::memcpy(memory, host, bytes);
  }
  void synchronize() override {}

  Layout input_layout(const Conv2dParams& params) override { return cpu::conv2d_input_layout(params); }
  std::unique_ptr<InputOp> make_input(const TensorDesc& output, const std::array<float, 3>& mean,
                                      const std::array<float, 3>& std) override {
    return cpu::make_input(output, mean, std);
  }
  std::unique_ptr<Conv2dOp> make_conv2d(const Conv2dParams& params) override { return cpu::make_conv2d(params); }
  std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormParams& params) override {
    return cpu::make_batch_norm(params);
  }
  std::unique_ptr<MaxPoolOp> make_max_pool(const MaxPoolParams& params) override { return cpu::make_max_pool(params); }
  std::unique_ptr<AvgPoolOp> make_avg_pool(const AvgPoolParams& params) override {
    return params.input.dtype == DType::f32 ? cpu::make_avg_pool(params) : cpu::make_avg_pool_bf16(params);
  }
  std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const TensorDesc& input) override {
    return cpu::make_global_avg_pool(input);
  }
  std::unique_ptr<LinearOp> make_linear(const LinearParams& params) override {
    return params.input == DType::f32 ? cpu::make_linear(params) : cpu::make_linear_bf16(params);
  }
  std::unique_ptr<ShortcutOp> make_shortcut(const TensorDesc& input, int out_channels, int stride) override {
    return cpu::make_shortcut(input, out_channels, stride);
  }
  std::unique_ptr<AddOp> make_add(const TensorDesc& tensor) override { return cpu::make_add(tensor); }
  std::unique_ptr<ConcatOp> make_concat(const std::vector<TensorDesc>& parts) override {
    return cpu::make_concat(parts);
  }
  std::unique_ptr<DropoutOp> make_dropout(const DropoutParams& params) override { return cpu::make_dropout(params); }
  std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes) override {
    return cpu::make_softmax_cross_entropy(classes);
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace trainyard
