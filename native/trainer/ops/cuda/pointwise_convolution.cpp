#include "trainer/ops/cuda/pointwise_convolution.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace trainyard::cuda {

namespace {

constexpr std::array kKinds{GradientEndKind::inner, GradientEndKind::block, GradientEndKind::pair};

/// The products of a convolution, and how each is cut; nullptr where it has no kernel.
struct PointwiseProducts {
  PointwiseShape forward, gradient;
  const PointwiseTiling* sums = nullptr;                     ///< forward
  std::array<const PointwiseTiling*, kKinds.size()> ends{};  ///< of the gradient, by its end

  static PointwiseProducts of(const Conv2dParams& params, const PointwiseShape& forward, unsigned processors) {
    PointwiseProducts products{forward, {forward.rows, forward.inner, forward.columns, forward.fp16}};
    if (!params.training) return products;
    products.sums = pointwise_tiling(forward, processors);
    if (!params.input_gradient) return products;
    for (const GradientEndKind kind : kKinds) {
      products.ends.at(static_cast<size_t>(kind)) = gradient_tiling(products.gradient, kind, processors);
    }
    return products;
  }
  const PointwiseTiling* end(GradientEndKind kind) const { return ends.at(static_cast<size_t>(kind)); }
  bool any() const {
    return sums != nullptr || std::ranges::any_of(ends, [](const auto* tiling) { return tiling != nullptr; });
  }
};

constexpr std::array kEnds{"a batch norm", "a block", "a block with projection"};  // by kind

std::string name_of(const PointwiseTiling& tiling) {
  return std::to_string(tiling.rows) + "x" + std::to_string(tiling.columns);
}

class PointwiseConvolution final : public ConvolutionPlans {
 public:
  PointwiseConvolution(const Launcher& launcher, unsigned processors, const PointwiseProducts& products,
                       std::unique_ptr<ConvolutionPlans> plans)
      : launcher_(launcher), processors_(processors), products_(products), plans_(std::move(plans)) {}

  std::string description() const override {
    std::string text = plans_->description();
    if (products_.sums != nullptr) text += ", forward with sums by our kernel of " + name_of(*products_.sums);
    for (const GradientEndKind kind : kKinds) {
      const PointwiseTiling* tiling = products_.end(kind);
      if (tiling == nullptr) continue;
      text += std::string(", data to the end of ") + kEnds.at(static_cast<size_t>(kind)) + " by our kernel of " +
              name_of(*tiling);
    }
    return text;
  }
  size_t forward_scratch_bytes() const override { return plans_->forward_scratch_bytes(); }
  size_t backward_data_scratch_bytes() const override { return plans_->backward_data_scratch_bytes(); }
  size_t backward_weights_scratch_bytes() const override { return plans_->backward_weights_scratch_bytes(); }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    plans_->forward(x, weights, y, scratch);
  }
  unsigned sums_rows() const override {
    return products_.sums == nullptr ? 0 : products_.sums->sums_rows(products_.forward, processors_);
  }
  void forward_with_sums(const void* x, const void* weights, void* y, void* /*scratch*/, float* sums) override {
    multiply_pointwise(launcher_, *products_.sums, products_.forward, processors_, x, weights, y, sums);
  }
  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    plans_->backward_data(dy, weights, dx, scratch);
  }
  unsigned end_sums_rows(GradientEndKind kind) const override {
    const PointwiseTiling* tiling = products_.end(kind);
    return tiling == nullptr ? 0 : tiling->sums_rows(products_.gradient, processors_);
  }
  void backward_data_to_end(const void* dy, const void* transposed, const GradientEnd& end, void* g) override {
    const PointwiseEnd made{.kind = end.kind,
                            .more = end.more,
                            .passed = end.mask.passed,
                            .x = {end.x[0], end.x[1]},
                            .mean = {end.mask.mean[0], end.mask.mean[1]},
                            .scale = end.mask.scale,
                            .beta = end.mask.beta};
    multiply_pointwise_gradient(launcher_, *products_.end(end.kind), products_.gradient, processors_, dy, transposed,
                                made, g, end.sums);
  }
  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    plans_->backward_weights(x, dy, dw, scratch);
  }

 private:
  const Launcher& launcher_;
  unsigned processors_;
  PointwiseProducts products_;
  std::unique_ptr<ConvolutionPlans> plans_;
};

}  // namespace

std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& p) {
  const bool one_pixel = p.kernel_h == 1 && p.kernel_w == 1 && p.stride_h == 1 && p.stride_w == 1;
  if (!one_pixel || p.pad_h != 0 || p.pad_w != 0 || p.input.dtype == DType::f32) return std::nullopt;
  const auto inner = static_cast<unsigned>(p.input.shape.c);
  return PointwiseShape{static_cast<unsigned>(p.input.shape.elements() / inner), static_cast<unsigned>(p.out_channels),
                        inner, p.input.dtype == DType::f16};
}

std::unique_ptr<ConvolutionPlans> with_pointwise_sums(const Launcher& launcher, unsigned processors,
                                                      const Conv2dParams& params,
                                                      std::unique_ptr<ConvolutionPlans> plans) {
  const auto shape = pointwise_shape(params);
  if (!shape) return plans;
  const auto products = PointwiseProducts::of(params, *shape, processors);
  if (!products.any()) return plans;
  return std::make_unique<PointwiseConvolution>(launcher, processors, products, std::move(plans));
}

}  // namespace trainyard::cuda
