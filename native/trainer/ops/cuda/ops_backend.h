// A back end whose ops are these, whatever runs them: the device, or the tests' loops.
#pragma once
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

class OpsBackend : public Backend {
 public:
  bool host_memory() const override { return false; }
  bool stores(DType /*dtype*/) const override { return true; }
  size_t most_elements() const override { return kMostElements; }
  Layout input_layout(const Conv2dParams& /*params*/) override { return Layout::nhwc; }
  std::unique_ptr<InputOp> make_input(const TensorDesc& output, const std::array<float, 3>& mean,
                                      const std::array<float, 3>& std) override {
    return cuda::make_input(device_, output, mean, std);
  }
  std::unique_ptr<Conv2dOp> make_conv2d(const Conv2dParams& params) override {
    return cuda::make_conv2d(device_, params);
  }
  std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormParams& params) override {
    return cuda::make_batch_norm(device_, params);
  }
  std::unique_ptr<BatchNormPairOp> make_batch_norm_pair(const BatchNormPairParams& params) override {
    return cuda::make_batch_norm_pair(device_, params);
  }
  std::unique_ptr<BatchNormPoolOp> make_batch_norm_pool(const BatchNormPoolParams& params) override {
    return cuda::make_batch_norm_pool(device_, params);
  }
  std::unique_ptr<MaxPoolOp> make_max_pool(const MaxPoolParams& params) override {
    return cuda::make_max_pool(device_, params);
  }
  std::unique_ptr<AvgPoolOp> make_avg_pool(const AvgPoolParams& params) override {
    return cuda::make_avg_pool(device_, params);
  }
  std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const TensorDesc& input) override {
    return cuda::make_global_avg_pool(device_, input);
  }
  std::unique_ptr<LinearOp> make_linear(const LinearParams& params) override {
    return cuda::make_linear(device_, params);
  }
  std::unique_ptr<ShortcutOp> make_shortcut(const TensorDesc& input, int out_channels, int stride) override {
    return cuda::make_shortcut(device_, input, out_channels, stride);
  }
  std::unique_ptr<AddOp> make_add(const TensorDesc& tensor) override { return cuda::make_add(device_, tensor); }
  std::unique_ptr<ConcatOp> make_concat(const std::vector<TensorDesc>& parts) override {
    return cuda::make_concat(device_, parts);
  }
  std::unique_ptr<DropoutOp> make_dropout(const DropoutParams& params) override {
    return cuda::make_dropout(device_, params);
  }
  std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes) override {
    return cuda::make_softmax_cross_entropy(device_, classes);
  }

  bool packs_at_once() const override { return !device_.plain_kernels; }
  std::unique_ptr<PackOp> make_pack(const std::vector<PackedWeights>& weights) override {
    return cuda::make_pack(device_, weights);
  }
  std::unique_ptr<UpdateOp> make_update(const UpdateParams& params) override {
    return cuda::make_update(device_, params);
  }

 protected:
  Device device_;  ///< to be filled in by the deriving class
};

}  // namespace trainyard::cuda
