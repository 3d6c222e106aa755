// The two ways from the gradient behind a block's batch norm to those of the convolution before it.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "trainer/ops/cuda/fused/bench_memory.h"
#include "trainer/ops/cuda/fused/pointwise_check.h"

namespace trainyard::cuda {

namespace {

class MergeTimes {
 public:
  MergeTimes(const FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
             const MergeTilings& tilings, ConvolutionPlans& plans)
      : kernels_(kernels),
        dtype_(params.input.dtype),
        shape_(shape),
        plans_(plans),
        apart_shape_{shape.rows, shape.inner, shape.columns, shape.fp16},
        apart_tiling_(gradient_tiling(apart_shape_, GradientEndKind::inner, kernels.processors)),
        merging_(kernels.device.launcher, kernels.processors, shape, tilings),
        norm_(make_batch_norm(
            kernels.device, {.input = {params.output_shape(), Layout::nhwc, dtype_}, .residual = true, .relu = true})),
        memory_(kernels) {}

  bool ready() const { return norm_->merges(); }

  /// With our data gradient where there is one, and without widening dw: so a merge has to be
  /// faster than the best of the other ways.
  std::optional<double> apart() {
    return take([this] {
      BatchNormOp::Backward args = of_norm();
      args.x = y_;
      args.dx = dy_;
      norm_->backward(args, {});
      plans_.backward_weights(x_, dy_, dw_, scratch_);
      if (apart_tiling_ == nullptr) return plans_.backward_data(dy_, weights_, dx_, scratch_);
      multiply_pointwise_gradient(kernels_.device.launcher, *apart_tiling_, apart_shape_, kernels_.processors, dy_,
                                  weights_, pointwise_end(end()), dx_, inner_sums_);
    });
  }
  std::optional<double> merged() {
    return take([this] {
      merging_.multiply_pixels(x_, g_, scratch_, products_);
      const BatchNormOp::Merging merging{.products = products_, .weights = weights_, .inner = shape_.inner};
      merging_.merge(weights_, products_, norm_->backward_merged(of_norm(), merging, {}), dw_, merged_);
      merging_.backward_data(x_, g_, merged_, end(), dx_);
    });
  }

 private:
  std::optional<double> take(const std::function<void()>& run) {
    return memory_.take([this] { make(); }, run);
  }

  void make() {
    const size_t in = shape_.inner;
    const size_t out = shape_.columns;
    const MergeBytes bytes = merging_.bytes();
    g_ = memory_.numbers(size_t{shape_.rows} * out, dtype_);
    y_ = memory_.numbers(size_t{shape_.rows} * out, dtype_);
    dy_ = memory_.numbers(size_t{shape_.rows} * out, dtype_);
    x_ = memory_.numbers(size_t{shape_.rows} * in, dtype_);
    input_ = memory_.numbers(size_t{shape_.rows} * in, dtype_);
    dx_ = memory_.numbers(size_t{shape_.rows} * in, dtype_);
    weights_ = memory_.numbers(out * in, dtype_);
    dw_ = memory_.floats(out * in);
    products_ = static_cast<float*>(memory_.buffer(bytes.products));
    merged_ = memory_.buffer(bytes.weights);
    scratch_ = memory_.buffer(
        std::max({bytes.scratch, plans_.backward_weights_scratch_bytes(), plans_.backward_data_scratch_bytes()}));
    saved_ = memory_.floats(norm_->saved_bytes() / sizeof(float) + 1);  // any constants and bits
    work_ = memory_.buffer(norm_->scratch_bytes());
    block_sums_ = memory_.floats(2 * block_rows() * out);
    size_t rows = merging_.sums_rows();
    if (apart_tiling_ != nullptr) {
      rows = std::max<size_t>(rows, apart_tiling_->sums_rows(apart_shape_, kernels_.processors));
    }
    inner_sums_ = static_cast<float*>(memory_.buffer(2 * rows * in * sizeof(float)));
    for (float*& each : of_channels_) each = memory_.floats(std::max(in, out));
  }

  /// Of the sums that the end of a block's gradient has written.
  size_t block_rows() const { return size_t{8} * kernels_.processors; }

  BatchNormOp::Backward of_norm() const {
    BatchNormOp::Backward args;
    args.dy = g_;
    args.sums = {block_sums_, static_cast<unsigned>(block_rows())};
    args.gamma = args.beta = of_channels_[0];
    args.saved = saved_;
    args.dgamma = of_channels_[1];
    args.dbeta = of_channels_[2];
    args.scratch = work_;
    return args;
  }
  GradientEnd end() const {
    GradientEnd end{.kind = GradientEndKind::inner, .x = {input_}, .sums = inner_sums_};
    end.mask = {.mean = {of_channels_[3]}, .scale = of_channels_[4], .beta = of_channels_[5]};
    return end;
  }

  const FusedKernels& kernels_;
  DType dtype_;
  PointwiseShape shape_;
  ConvolutionPlans& plans_;
  PointwiseShape apart_shape_;
  const PointwiseTiling* apart_tiling_;  // of the data gradient by itself; nullptr: the plans'
  NormMerging merging_;
  std::unique_ptr<BatchNormOp> norm_;
  BenchMemory memory_;
  void *g_ = nullptr, *y_ = nullptr, *dy_ = nullptr, *x_ = nullptr, *input_ = nullptr, *dx_ = nullptr,
       *weights_ = nullptr, *merged_ = nullptr, *scratch_ = nullptr, *saved_ = nullptr, *work_ = nullptr;
  float *dw_ = nullptr, *products_ = nullptr, *block_sums_ = nullptr, *inner_sums_ = nullptr;
  std::array<float*, 6> of_channels_{};
};

}  // namespace

bool choose_merge(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                  const MergeTilings& tilings, ConvolutionPlans& plans) {
  MergeTimes times(kernels, params, shape, tilings, plans);
  if (!times.ready()) return false;
  FusedWork work{{kernels.model, kernels.library, "batch norm's gradient merged, " + work_text(kernels, params)},
                 [&] { return times.apart(); },
                 {}};
  const std::string kernel = "gradients of 1x1 convolutions with a batch norm's merged (" +
                             std::to_string(shape.inner) + " channels in, " + std::to_string(shape.columns) +
                             (shape.fp16 ? " out, fp16)" : " out)");
  const auto check = [&] {
    const std::string wrong = check_pixels(kernels.device, *tilings.pixels, shape.fp16);
    return wrong.empty() ? check_merged_gradient(kernels.device, *tilings.gradient, shape.fp16) : wrong;
  };
  work.candidates.push_back({"merged", kernel, check, [&] { return times.merged(); }});
  return choose_fused(kernels.chooser, kernels.checks, work).has_value();
}

}  // namespace trainyard::cuda
