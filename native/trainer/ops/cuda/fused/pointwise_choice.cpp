#include "trainer/ops/cuda/fused/pointwise_choice.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "trainer/ops/cuda/fused/pointwise_check.h"
#include "trainer/ops/cuda/norm_steps.h"

namespace trainyard::cuda {

namespace {

std::string text_of(const PointwiseTiling& tiling) {
  return std::to_string(tiling.rows) + "x" + std::to_string(tiling.columns);
}

/// All that the times depend on, beside the device and cuDNN.
std::string work_of(const FusedKernels& kernels, const Conv2dParams& params) {
  const Shape& in = params.input.shape;
  return "forward with sums, " + std::to_string(in.n) + "x" + std::to_string(in.c) + "x" + std::to_string(in.h) + "x" +
         std::to_string(in.w) + " to " + std::to_string(params.out_channels) + " by 1x1, bf16, kernels " +
         kernels.version;
}

/// The two ways to a convolution's outputs and their statistics, over memory that is made when the
/// first of them is measured.
class Measurements {
 public:
  Measurements(const FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
               ConvolutionPlans& plans)
      : kernels_(kernels),
        shape_(shape),
        plans_(plans),
        steps_(kernels.device, {params.output_shape(), Layout::nhwc, DType::bf16}, BatchNormParams{}.eps,
               BatchNormParams{}.momentum) {}

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
    if (!bench_) make();
    return ready_ ? bench_->milliseconds(run) : std::nullopt;
  }

  void make() {
    bench_ = kernels_.bench();
    const size_t channels = shape_.columns;
    size_t sums_rows = 0;
    for (const PointwiseTiling& tiling : kPointwiseTilings) {
      if (!tiling.takes(shape_, kernels_.processors)) continue;
      sums_rows = std::max<size_t>(sums_rows, tiling.sums_rows(shape_, kernels_.processors));
    }
    ready_ = true;
    x_ = numbers(size_t{shape_.rows} * shape_.inner, DType::bf16);
    weights_ = numbers(channels * shape_.inner, DType::bf16);
    y_ = numbers(size_t{shape_.rows} * channels, DType::bf16);
    scratch_ = room(plans_.forward_scratch_bytes());
    sums_ = static_cast<float*>(room(2 * sums_rows * channels * sizeof(float)));
    partial_ = static_cast<double*>(room(steps_.partial_sums() * sizeof(double)));
    work_ = room(NormWork::bytes(channels));
    saved_ = room(NormSaved::bytes(channels));
    for (float*& each : of_channels_) each = static_cast<float*>(numbers(channels, DType::f32));
  }

  void* numbers(size_t count, DType dtype) { return noted(ready_ ? bench_->numbers(count, dtype) : nullptr); }
  void* room(size_t bytes) { return noted(ready_ ? bench_->room(bytes) : nullptr); }
  void* noted(void* memory) {
    ready_ = ready_ && memory != nullptr;
    return memory;
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
  PointwiseShape shape_;
  ConvolutionPlans& plans_;
  NormSteps<BFloat16> steps_;
  std::unique_ptr<FusedBench> bench_;
  bool ready_ = false;
  void *x_ = nullptr, *weights_ = nullptr, *y_ = nullptr, *scratch_ = nullptr, *work_ = nullptr, *saved_ = nullptr;
  float* sums_ = nullptr;
  double* partial_ = nullptr;
  std::array<float*, 4> of_channels_{};
};

}  // namespace

const PointwiseTiling* choose_pointwise(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                        ConvolutionPlans& plans) {
  if (!NormSteps<BFloat16>::takes(kernels.device, params.out_channels)) return nullptr;
  Measurements measurements(kernels, params, shape, plans);
  FusedWork work{{kernels.model, kernels.library, work_of(kernels, params)}, [&] { return measurements.apart(); }, {}};
  std::vector<const PointwiseTiling*> tilings;
  for (const PointwiseTiling& tiling : kPointwiseTilings) {
    if (!tiling.takes(shape, kernels.processors)) continue;
    tilings.push_back(&tiling);
    work.candidates.push_back({"fused " + text_of(tiling),
                               "1x1 convolutions with sums (" + std::to_string(tiling.inner) +
                                   " channels in, tiles of " + text_of(tiling) + ")",
                               [&kernels, &tiling] { return check_pointwise(kernels.device, tiling); },
                               [&measurements, &tiling] { return measurements.fused(tiling); }});
  }
  const auto chosen = choose_fused(kernels.chooser, kernels.checks, work);
  return chosen ? tilings[*chosen] : nullptr;
}

}  // namespace trainyard::cuda
