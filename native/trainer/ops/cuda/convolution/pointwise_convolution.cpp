#include "trainer/ops/cuda/convolution/pointwise_convolution.h"

#include <array>
#include <string>
#include <utility>

namespace trainyard::cuda {

namespace {

// By GradientEndKind.
constexpr std::array kEnds{"a batch norm", "a block", "a block with projection", "a block whose batch norm is merged"};

std::string name_of(const PointwiseTiling& tiling) {
  return std::to_string(tiling.rows) + "x" + std::to_string(tiling.columns);
}

class PointwiseConvolution final : public ConvolutionPlans {
 public:
  PointwiseConvolution(const Launcher& launcher, unsigned processors, const Conv2dParams& params,
                       const PointwiseShape& shape, std::unique_ptr<ConvolutionPlans> plans, TilingChooser* chooser)
      : launcher_(launcher),
        processors_(processors),
        params_(params),
        shape_(shape),
        gradient_shape_{shape.rows, shape.inner, shape.columns, shape.fp16},
        plans_(std::move(plans)),
        chooser_(chooser),
        sums_(pointwise_tiling(shape, processors)) {
    if (sums_ != nullptr && chooser != nullptr) sums_ = chooser->forward(params, shape, *plans_);
  }

  std::string description() const override {
    std::string text = plans_->description();
    if (sums_ != nullptr) text += ", forward with sums by our kernel of " + name_of(*sums_);
    for (size_t i = 0; i < ends_.size(); ++i) {
      const PointwiseTiling* tiling = ends_.at(i).value_or(nullptr);
      if (tiling == nullptr) continue;
      text += std::string(", data to the end of ") + kEnds.at(i) + " by our kernel of " + name_of(*tiling);
    }
    if (merging_ && *merging_ != nullptr) text += ", a batch norm's gradient merged by our kernels";
    return text;
  }
  size_t forward_scratch_bytes() const override { return plans_->forward_scratch_bytes(); }
  size_t backward_data_scratch_bytes() const override { return plans_->backward_data_scratch_bytes(); }
  size_t backward_weights_scratch_bytes() const override { return plans_->backward_weights_scratch_bytes(); }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    plans_->forward(x, weights, y, scratch);
  }
  unsigned sums_rows() const override { return sums_ == nullptr ? 0 : sums_->sums_rows(shape_, processors_); }
  void forward_with_sums(const void* x, const void* weights, void* y, void* /*scratch*/, float* sums) override {
    multiply_pointwise(launcher_, *sums_, shape_, processors_, x, weights, y, sums);
  }
  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    plans_->backward_data(dy, weights, dx, scratch);
  }
  unsigned end_sums_rows(GradientEndKind kind) override {
    const PointwiseTiling* tiling = end(kind);
    return tiling == nullptr ? 0 : tiling->sums_rows(gradient_shape_, processors_);
  }
  void backward_data_to_end(const void* dy, const void* transposed, const GradientEnd& end, void* g) override {
    multiply_pointwise_gradient(launcher_, *this->end(end.kind), gradient_shape_, processors_, dy, transposed,
                                pointwise_end(end), g, end.sums);
  }
  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    plans_->backward_weights(x, dy, dw, scratch);
  }

  /// Decided when it is first asked for.
  const NormMerging* merging() override {
    if (merging_) return merging_->get();
    merging_.emplace(nullptr);
    const MergeTilings tilings = MergeShapes(shape_).tilings(processors_);
    if (params_.input_gradient && tilings &&
        (chooser_ == nullptr || chooser_->merges(params_, shape_, tilings, *plans_))) {
      *merging_ = std::make_unique<NormMerging>(launcher_, processors_, shape_, tilings);
    }
    return merging_->get();
  }

 private:
  /// Chosen when it is first asked for: a convolution has one kind of end in a network.
  const PointwiseTiling* end(GradientEndKind kind) {
    auto& known = ends_.at(static_cast<size_t>(kind));
    if (!known) {
      known = params_.input_gradient ? gradient_tiling(gradient_shape_, kind, processors_) : nullptr;
      if (*known != nullptr && chooser_ != nullptr) {
        known = chooser_->gradient(params_, gradient_shape_, kind, *plans_);
      }
    }
    return *known;
  }

  const Launcher& launcher_;
  unsigned processors_;
  Conv2dParams params_;
  PointwiseShape shape_, gradient_shape_;
  std::unique_ptr<ConvolutionPlans> plans_;
  TilingChooser* chooser_;
  const PointwiseTiling* sums_;                                             // of forward
  std::array<std::optional<const PointwiseTiling*>, kEnds.size()> ends_{};  // by kind
  std::optional<std::unique_ptr<NormMerging>> merging_;
};

}  // namespace

std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& p) {
  const bool one_pixel = p.kernel_h == 1 && p.kernel_w == 1 && p.stride_h == 1 && p.stride_w == 1;
  if (!one_pixel || p.pad_h != 0 || p.pad_w != 0 || p.input.dtype == DType::f32) return std::nullopt;
  const auto inner = static_cast<unsigned>(p.input.shape.c);
  return PointwiseShape{static_cast<unsigned>(p.input.shape.elements() / inner), static_cast<unsigned>(p.out_channels),
                        inner, p.input.dtype == DType::f16};
}

PointwiseEnd pointwise_end(const GradientEnd& end) {
  return {.kind = end.kind,
          .more = end.more,
          .passed = end.mask.passed,
          .x = {end.x[0], end.x[1]},
          .mean = {end.mask.mean[0], end.mask.mean[1]},
          .scale = end.mask.scale,
          .beta = end.mask.beta};
}

std::unique_ptr<ConvolutionPlans> with_pointwise_kernels(const Launcher& launcher, unsigned processors,
                                                         const Conv2dParams& params,
                                                         std::unique_ptr<ConvolutionPlans> plans,
                                                         TilingChooser* chooser) {
  const auto shape = pointwise_shape(params);
  if (!shape || !params.training) return plans;
  return std::make_unique<PointwiseConvolution>(launcher, processors, params, *shape, std::move(plans), chooser);
}

}  // namespace trainyard::cuda
