// Convolutions: master weights are reordered to channels last, and their gradients back; the rest
// is cuDNN's.
#include <string>

#include "common/error.h"
#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/convolution/space_to_depth.h"
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/math/repack.h"

namespace trainyard::cuda {

namespace {

class CudaConv2d final : public Conv2dOp {
 public:
  CudaConv2d(const Device& device, const Conv2dParams& params)
      : device_(device),
        in_(static_cast<unsigned>(params.input.shape.c)),
        window_(static_cast<unsigned>(params.kernel_h * params.kernel_w)),
        weights_(size_t{in_} * window_ * static_cast<size_t>(params.out_channels)) {
    require_channels_last(device, params.input, "convolution");
    output_ = {params.output_shape(), Layout::nhwc, params.input.dtype};
    if (output_.shape.h < 1 || output_.shape.w < 1) {
      device.fail(static_cast<int>(Exit::usage), "A " + std::to_string(params.kernel_h) + "x" +
                                                     std::to_string(params.kernel_w) +
                                                     " convolution does not fit an input of " +
                                                     to_string(params.input.shape) + ". Use a larger --image-size.");
    }
    if (window_ > kRepackElements / 8) {
      device.fail(static_cast<int>(Exit::internal), "The CUDA back end convolves with windows of at most " +
                                                        std::to_string(kRepackElements / 8) + " pixels. Report it.");
    }
    plans_ = plan_space_to_depth(device, params);
    if (!plans_) plans_ = device.plan_convolution(params);
  }

  const TensorDesc& output() const override { return output_; }
  std::string description() const override { return plans_->description(); }

  // Never the plain weights, even where both orders are the same: cuDNN wants them aligned.
  size_t forward_weights_bytes() const override { return packed_bytes(); }
  size_t backward_weights_bytes() const override { return packed_bytes(); }
  void pack_forward(const float* weights, void* packed) override { pack(weights, packed); }
  void pack_backward(const float* weights, void* packed) override { pack(weights, packed); }

  size_t forward_scratch_bytes() const override { return plans_->forward_scratch_bytes(); }
  size_t backward_data_scratch_bytes() const override { return plans_->backward_data_scratch_bytes(); }
  size_t backward_weights_scratch_bytes() const override {
    return packed_bytes() + plans_->backward_weights_scratch_bytes();
  }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    plans_->forward(x, weights, y, scratch);
  }

  unsigned sums_rows() const override { return device_.plain_kernels ? 0 : plans_->sums_rows(); }
  void forward_with_sums(const void* x, const void* weights, void* y, void* scratch, float* sums) override {
    plans_->forward_with_sums(x, weights, y, scratch, sums);
  }

  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    plans_->backward_data(dy, weights, dx, scratch);
  }

  unsigned end_sums_rows(GradientEndKind kind) override {
    return device_.plain_kernels ? 0 : plans_->end_sums_rows(kind);
  }
  void backward_data_to_end(const void* dy, const void* transposed, const GradientEnd& end, void* g) override {
    plans_->backward_data_to_end(dy, transposed, end, g);
  }

  // The gradient [out, kernel_h, kernel_w, in] lies at the front of the scratch.
  void backward_weights(const void* x, const void* dy, float* dw, void* scratch) override {
    plans_->backward_weights(x, dy, scratch, static_cast<std::byte*>(scratch) + packed_bytes());
    unpack(scratch, dw);
  }

  MergeBytes merge_bytes() override {
    const NormMerging* merging = device_.plain_kernels ? nullptr : plans_->merging();
    return merging == nullptr ? MergeBytes{} : merging->bytes();
  }
  void multiply_pixels(const void* x, const void* g, void* scratch, float* products) override {
    plans_->merging()->multiply_pixels(x, g, scratch, products);
  }
  void merge_norm(const void* weights, const float* products, const MergedNorm& norm, float* dw,
                  void* merged) override {
    plans_->merging()->merge(weights, products, norm, dw, merged);
  }
  unsigned merged_sums_rows() override { return plans_->merging()->sums_rows(); }
  void backward_data_merged(const void* x, const void* g, const void* merged, const GradientEnd& end,
                            void* dx) override {
    plans_->merging()->backward_data(x, g, merged, end, dx);
  }

  size_t kept_bytes() const override { return plans_->kept_bytes(); }
  void forward_keeping(const void* x, const void* weights, void* y, void* scratch, void* kept) override {
    plans_->forward_keeping(x, weights, y, scratch, kept);
  }
  void backward_weights_kept(const void* kept, const void* dy, float* dw, void* scratch) override {
    plans_->backward_weights_kept(kept, dy, scratch, static_cast<std::byte*>(scratch) + packed_bytes());
    unpack(scratch, dw);
  }

 private:
  size_t packed_bytes() const { return (weights_ * dtype_bytes(output_.dtype) + 63) / 64 * 64; }
  void unpack(const void* gradient, float* dw) const {
    const RepackShape shape{static_cast<unsigned>(output_.shape.c), in_, window_};
    with_stored(output_.dtype, [&]<class T>(T) {
      const T* packed = static_cast<const T*>(gradient);
      device_.plain_kernels ? each(device_.launcher, weights_, ToChannelsFirst<T>{packed, dw, in_, window_})
                            : blocks(device_.launcher, RepackPart::count(shape), Unpack<T>{shape, packed, dw});
    });
  }
  void pack(const float* weights, void* packed) const {
    with_stored(output_.dtype, [&]<class T>(T) {
      each(device_.launcher, weights_, ToChannelsLast<T>{weights, static_cast<T*>(packed), in_, window_});
    });
  }

  const Device& device_;
  unsigned in_, window_;
  size_t weights_;  // elements of [out, in, kernel_h, kernel_w]
  TensorDesc output_;
  std::unique_ptr<ConvolutionPlans> plans_;
};

}  // namespace

std::unique_ptr<Conv2dOp> make_conv2d(const Device& device, const Conv2dParams& params) {
  return std::make_unique<CudaConv2d>(device, params);
}

}  // namespace trainyard::cuda
