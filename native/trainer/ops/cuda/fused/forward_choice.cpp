// The two ways to a convolution's outputs and their statistics.
#include <array>

#include "trainer/ops/cuda/fused/bench_memory.h"
#include "trainer/ops/cuda/fused/pointwise_check.h"
#include "trainer/ops/cuda/norm/norm_steps.h"

namespace trainyard::cuda {

namespace {

template <class T>
class ForwardTimes {
 public:
  ForwardTimes(const FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
               ConvolutionPlans& plans)
      : kernels_(kernels),
        dtype_(params.input.dtype),
        shape_(shape),
        plans_(plans),
        steps_(kernels.device, {params.output_shape(), Layout::nhwc, dtype_}, BatchNormParams{}.eps,
               BatchNormParams{}.momentum),
        memory_(kernels) {}

  std::optional<double> apart() {
    return take([this] {
      plans_.forward(x_, weights_, y_, scratch_);
      add_up(ChannelSums{});
    });
  }
  std::optional<double> fused(const PointwiseTiling& tiling) {
    return take([this, &tiling] {
      multiply_pointwise(kernels_.device.launcher, tiling, shape_, kernels_.processors, x_, weights_, y_, sums_);
      add_up({sums_, tiling.sums_rows(shape_, kernels_.processors)});
    });
  }

 private:
  std::optional<double> take(const std::function<void()>& run) {
    return memory_.take([this] { make(); }, run);
  }

  void make() {
    const size_t channels = shape_.columns;
    x_ = memory_.numbers(size_t{shape_.rows} * shape_.inner, dtype_);
    weights_ = memory_.numbers(channels * shape_.inner, dtype_);
    y_ = memory_.numbers(size_t{shape_.rows} * channels, dtype_);
    scratch_ = memory_.buffer(plans_.forward_scratch_bytes());
    const size_t rows = most_sums_rows(kPointwiseTilings, shape_, kernels_.processors);
    sums_ = static_cast<float*>(memory_.buffer(2 * rows * channels * sizeof(float)));
    partial_ = static_cast<double*>(memory_.buffer(steps_.partial_sums() * sizeof(double)));
    work_ = memory_.buffer(NormWork::bytes(channels));
    saved_ = memory_.buffer(NormSaved::bytes(channels));
    for (float*& each : of_channels_) each = memory_.floats(channels);
  }

  void add_up(const ChannelSums& sums) const {
    const size_t channels = shape_.columns;
    const BatchNormOp::Forward args{.x = y_,
                                    .gamma = of_channels_[0],
                                    .beta = of_channels_[1],
                                    .running_mean = of_channels_[2],
                                    .running_var = of_channels_[3],
                                    .sums = sums};
    steps_.statistics(args, NormSaved(saved_, channels), partial_, NormWork(work_, channels), {});
  }

  const FusedKernels& kernels_;
  DType dtype_;
  PointwiseShape shape_;
  ConvolutionPlans& plans_;
  NormSteps<T> steps_;
  BenchMemory memory_;
  void *x_ = nullptr, *weights_ = nullptr, *y_ = nullptr, *scratch_ = nullptr, *work_ = nullptr, *saved_ = nullptr;
  float* sums_ = nullptr;
  double* partial_ = nullptr;
  std::array<float*, 4> of_channels_{};
};

template <class T>
const PointwiseTiling* choose(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                              ConvolutionPlans& plans) {
  if (!NormSteps<T>::takes(kernels.device, params.out_channels)) return nullptr;
  ForwardTimes<T> times(kernels, params, shape, plans);
  FusedWork work{{kernels.model, kernels.library, "forward with sums, " + work_text(kernels, params)},
                 [&] { return times.apart(); },
                 {}};
  return choose_tiling(
      kernels, kPointwiseTilings, shape, "1x1 convolutions with sums", std::move(work),
      [&](const PointwiseTiling& tiling) { return check_pointwise(kernels.device, tiling, shape.fp16); },
      [&](const PointwiseTiling& tiling) { return times.fused(tiling); });
}

}  // namespace

const PointwiseTiling* choose_forward(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                      ConvolutionPlans& plans) {
  return shape.fp16 ? choose<Float16>(kernels, params, shape, plans) : choose<BFloat16>(kernels, params, shape, plans);
}

}  // namespace trainyard::cuda
