#include "trainer/ops/cuda/pointwise_convolution.h"

#include <string>
#include <utility>

namespace trainyard::cuda {

namespace {

class PointwiseConvolution final : public ConvolutionPlans {
 public:
  PointwiseConvolution(const Launcher& launcher, unsigned processors, const PointwiseShape& shape,
                       const PointwiseTiling& tiling, std::unique_ptr<ConvolutionPlans> plans)
      : launcher_(launcher), processors_(processors), shape_(shape), tiling_(tiling), plans_(std::move(plans)) {}

  std::string description() const override {
    return plans_->description() + ", forward with sums by our kernel of " + std::to_string(tiling_.rows) + "x" +
           std::to_string(tiling_.columns);
  }
  size_t forward_scratch_bytes() const override { return plans_->forward_scratch_bytes(); }
  size_t backward_data_scratch_bytes() const override { return plans_->backward_data_scratch_bytes(); }
  size_t backward_weights_scratch_bytes() const override { return plans_->backward_weights_scratch_bytes(); }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    plans_->forward(x, weights, y, scratch);
  }
  unsigned sums_rows() const override { return tiling_.sums_rows(shape_, processors_); }
  void forward_with_sums(const void* x, const void* weights, void* y, void* /*scratch*/, float* sums) override {
    multiply_pointwise(launcher_, tiling_, shape_, processors_, x, weights, y, sums);
  }
  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    plans_->backward_data(dy, weights, dx, scratch);
  }
  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    plans_->backward_weights(x, dy, dw, scratch);
  }

 private:
  const Launcher& launcher_;
  unsigned processors_;
  PointwiseShape shape_;
  const PointwiseTiling& tiling_;
  std::unique_ptr<ConvolutionPlans> plans_;
};

}  // namespace

std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& p) {
  const bool one_pixel = p.kernel_h == 1 && p.kernel_w == 1 && p.stride_h == 1 && p.stride_w == 1;
  if (!one_pixel || p.pad_h != 0 || p.pad_w != 0 || p.input.dtype != DType::bf16) return std::nullopt;
  const auto inner = static_cast<unsigned>(p.input.shape.c);
  return PointwiseShape{static_cast<unsigned>(p.input.shape.elements() / inner), static_cast<unsigned>(p.out_channels),
                        inner};
}

std::unique_ptr<ConvolutionPlans> with_pointwise_sums(const Launcher& launcher, unsigned processors,
                                                      const Conv2dParams& params,
                                                      std::unique_ptr<ConvolutionPlans> plans,
                                                      const ChooseTiling& choose) {
  const auto shape = pointwise_shape(params);
  const PointwiseTiling* tiling = shape && params.training ? pointwise_tiling(*shape, processors) : nullptr;
  if (tiling != nullptr && choose) tiling = choose(*shape, *plans);
  if (tiling == nullptr) return plans;
  return std::make_unique<PointwiseConvolution>(launcher, processors, *shape, *tiling, std::move(plans));
}

}  // namespace trainyard::cuda
