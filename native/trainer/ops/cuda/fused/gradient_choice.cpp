// The two ways from the gradient of a convolution's outputs to those of the batch norm before it.
#include <array>

#include "trainer/ops/cuda/fused/bench_memory.h"
#include "trainer/ops/cuda/fused/pointwise_check.h"

namespace trainyard::cuda {

namespace {

class GradientTimes {
 public:
  GradientTimes(const FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                GradientEndKind kind, ConvolutionPlans& plans)
      : kernels_(kernels), desc_(params.input), shape_(shape), kind_(kind), plans_(plans), memory_(kernels) {
    if (kind == GradientEndKind::pair) {
      pair_ = make_batch_norm_pair(kernels.device, {.input = desc_});
    } else {
      norm_ = make_batch_norm(kernels.device, {.input = desc_, .residual = adds(), .relu = true});
    }
  }

  /// Whether the batch norm takes sums.
  bool ready() const { return pair_ != nullptr ? pair_->has_mask() : norm_ != nullptr && norm_->has_mask(); }

  std::optional<double> apart() {
    return take([this] {
      plans_.backward_data(dy_, weights_, dx_, scratch_);
      adds() ? normalise(g_, dx_, {}) : normalise(dx_, nullptr, {});
    });
  }
  std::optional<double> fused(const PointwiseTiling& tiling) {
    return take([this, &tiling] {
      GradientEnd end{.kind = kind_, .more = adds() ? g_ : nullptr, .x = {x_[0], x_[1]}, .sums = sums_};
      end.mask = pair_ != nullptr ? pair_->mask(saved_) : norm_->mask(saved_);
      multiply_pointwise_gradient(kernels_.device.launcher, tiling, shape_, kernels_.processors, dy_, weights_,
                                  pointwise_end(end), g_, sums_);
      normalise(g_, nullptr, {sums_, tiling.sums_rows(shape_, kernels_.processors)});
    });
  }

 private:
  bool adds() const { return kind_ != GradientEndKind::inner; }

  std::optional<double> take(const std::function<void()>& run) {
    return memory_.take([this] { make(); }, run);
  }

  void make() {
    const size_t channels = shape_.columns;
    const size_t numbers = size_t{shape_.rows} * channels;
    dy_ = memory_.numbers(size_t{shape_.rows} * shape_.inner, desc_.dtype);
    weights_ = memory_.numbers(channels * shape_.inner, desc_.dtype);
    dx_ = memory_.numbers(numbers, desc_.dtype);
    g_ = memory_.numbers(numbers, desc_.dtype);
    for (size_t i = 0; i < (pair_ != nullptr ? 2U : 1U); ++i) {
      x_.at(i) = memory_.numbers(numbers, desc_.dtype);
      out_.at(i) = memory_.numbers(numbers, desc_.dtype);
    }
    scratch_ = memory_.buffer(plans_.backward_data_scratch_bytes());
    const size_t saved = pair_ != nullptr ? pair_->saved_bytes() : norm_->saved_bytes();
    saved_ = memory_.floats(saved / sizeof(float) + 1);  // any constants and bits
    work_ = memory_.buffer(pair_ != nullptr ? pair_->scratch_bytes() : norm_->scratch_bytes());
    sums_ = static_cast<float*>(memory_.buffer(3 * most_rows() * channels * sizeof(float)));
    for (float*& each : of_channels_) each = memory_.floats(channels);
  }
  size_t most_rows() const {
    switch (kind_) {
      case GradientEndKind::inner:
        return most_sums_rows(kInnerGradientTilings, shape_, kernels_.processors);
      case GradientEndKind::block:
      case GradientEndKind::mask:
        return most_sums_rows(kBlockGradientTilings, shape_, kernels_.processors);
      case GradientEndKind::pair:
        break;
    }
    return most_sums_rows(kPairGradientTilings, shape_, kernels_.processors);
  }

  /// All of the batch norm's backward, since a gradient that is masked spares it that too.
  void normalise(void* dy, const void* more, const ChannelSums& sums) const {
    if (pair_ != nullptr) {
      BatchNormPairOp::Backward args{
          .dy = dy, .more_dy = more, .sums = sums, .inputs = {}, .saved = saved_, .scratch = work_};
      for (size_t i = 0; i < 2; ++i) {
        args.inputs.at(i) = {x_.at(i), of_channels_[0], out_.at(i), of_channels_[1 + 2 * i], of_channels_[2 + 2 * i]};
      }
      return pair_->backward(args, {});
    }
    BatchNormOp::Backward args;
    args.dy = dy;
    args.more_dy = more;
    args.sums = sums;
    args.x = x_[0];
    args.gamma = args.beta = of_channels_[0];
    args.saved = saved_;
    args.dx = adds() ? out_[0] : dy;
    args.dgamma = of_channels_[1];
    args.dbeta = of_channels_[2];
    args.scratch = work_;
    norm_->backward(args, {});
  }

  const FusedKernels& kernels_;
  TensorDesc desc_;
  PointwiseShape shape_;
  GradientEndKind kind_;
  ConvolutionPlans& plans_;
  BenchMemory memory_;
  std::unique_ptr<BatchNormOp> norm_;
  std::unique_ptr<BatchNormPairOp> pair_;
  void *dy_ = nullptr, *weights_ = nullptr, *dx_ = nullptr, *g_ = nullptr, *scratch_ = nullptr, *saved_ = nullptr,
       *work_ = nullptr;
  std::array<void*, 2> x_{}, out_{};
  float* sums_ = nullptr;
  std::array<float*, 5> of_channels_{};
};

constexpr const char* kGradients = "data gradients of 1x1 convolutions to the end of ";

template <size_t kCount>
const PointwiseTiling* choose(FusedKernels& kernels, const PointwiseTiling (&tilings)[kCount],
                              const Conv2dParams& params, const PointwiseShape& shape, GradientEndKind kind,
                              const std::string& end, ConvolutionPlans& plans) {
  GradientTimes times(kernels, params, shape, kind, plans);
  if (!times.ready()) return nullptr;
  FusedWork work{
      {kernels.model, kernels.library, "data gradient to the end of " + end + ", " + work_text(kernels, params)},
      [&] { return times.apart(); },
      {}};
  return choose_tiling(
      kernels, tilings, shape, kGradients + end, std::move(work),
      [&](const PointwiseTiling& tiling) { return check_gradient(kernels.device, tiling, kind, shape.fp16); },
      [&](const PointwiseTiling& tiling) { return times.fused(tiling); });
}

/// The tiling that a block takes, so that both are measured once; where the kernel of `mask`
/// computes wrongly, none.
const PointwiseTiling* choose_mask(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                   ConvolutionPlans& plans) {
  const PointwiseTiling* tiling = choose_gradient(kernels, params, shape, GradientEndKind::block, plans);
  if (tiling == nullptr) return nullptr;
  const std::string what = std::string(kGradients) + "a block whose batch norm is merged";
  const FusedCandidate candidate{
      "fused",
      kernel_text(what, *tiling, shape.fp16),
      [&] { return check_gradient(kernels.device, *tiling, GradientEndKind::mask, shape.fp16); },
      {}};
  return kernels.checks.passes(candidate) ? tiling : nullptr;
}

}  // namespace

const PointwiseTiling* choose_gradient(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                       GradientEndKind kind, ConvolutionPlans& plans) {
  switch (kind) {
    case GradientEndKind::inner:
      return choose(kernels, kInnerGradientTilings, params, shape, kind, "a batch norm", plans);
    case GradientEndKind::block:
      return choose(kernels, kBlockGradientTilings, params, shape, kind, "a block", plans);
    case GradientEndKind::mask:
      return choose_mask(kernels, params, shape, plans);
    case GradientEndKind::pair:
      break;
  }
  return choose(kernels, kPairGradientTilings, params, shape, kind, "a block with projection", plans);
}

}  // namespace trainyard::cuda
