#include "trainer/ops/cuda/fused/tiling_choice.h"

#include "trainer/ops/cuda/fused/bench_memory.h"

namespace trainyard::cuda {

namespace {

class CheckedTilings final : public TilingChooser {
 public:
  explicit CheckedTilings(FusedKernels& kernels) : kernels_(kernels) {}

  const PointwiseTiling* forward(const Conv2dParams& params, const PointwiseShape& shape,
                                 ConvolutionPlans& plans) override {
    return choose_forward(kernels_, params, shape, plans);
  }
  const PointwiseTiling* gradient(const Conv2dParams& params, const PointwiseShape& shape, GradientEndKind kind,
                                  ConvolutionPlans& plans) override {
    return choose_gradient(kernels_, params, shape, kind, plans);
  }
  bool merges(const Conv2dParams& params, const PointwiseShape& shape, const MergeTilings& tilings,
              ConvolutionPlans& plans) override {
    return choose_merge(kernels_, params, shape, tilings, plans);
  }

 private:
  FusedKernels& kernels_;
};

}  // namespace

std::string work_text(const FusedKernels& kernels, const Conv2dParams& params) {
  const Shape& in = params.input.shape;
  return std::to_string(in.n) + "x" + std::to_string(in.c) + "x" + std::to_string(in.h) + "x" + std::to_string(in.w) +
         " to " + std::to_string(params.out_channels) + " by 1x1, " +
         (params.input.dtype == DType::f16 ? "fp16" : "bf16") + ", kernels " + kernels.version;
}

std::unique_ptr<TilingChooser> make_tiling_chooser(FusedKernels& kernels) {
  return std::make_unique<CheckedTilings>(kernels);
}

}  // namespace trainyard::cuda
