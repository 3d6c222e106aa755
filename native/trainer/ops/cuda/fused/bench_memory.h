// Memory for the measurements of one operation, allocated at the first of them.
#pragma once
#include <memory>
#include <string>

#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/fused/fused_kernels.h"

namespace trainyard::cuda {

class BenchMemory {
 public:
  explicit BenchMemory(const FusedKernels& kernels) : kernels_(kernels) {}

  /// Milliseconds of `run`; nothing where there is too little memory. make: allocates all of it, with
  /// numbers() and buffer().
  template <class Make>
  std::optional<double> take(const Make& make, const std::function<void()>& run) {
    if (!bench_) {
      bench_ = kernels_.bench();
      ready_ = true;
      make();
    }
    return ready_ ? bench_->milliseconds(run) : std::nullopt;
  }

  void* numbers(size_t count, DType dtype) { return noted(ready_ ? bench_->numbers(count, dtype) : nullptr); }
  float* floats(size_t count) { return static_cast<float*>(numbers(count, DType::f32)); }
  void* buffer(size_t bytes) { return noted(ready_ ? bench_->buffer(bytes) : nullptr); }

 private:
  void* noted(void* memory) {
    ready_ = ready_ && memory != nullptr;
    return memory;
  }

  const FusedKernels& kernels_;
  std::unique_ptr<FusedBench> bench_;
  bool ready_ = false;
};

/// The most rows of sums that one of those `tilings` writes that take the shape.
template <size_t kCount>
size_t most_sums_rows(const PointwiseTiling (&tilings)[kCount], const PointwiseShape& shape, unsigned processors) {
  size_t most = 0;
  for (const PointwiseTiling& tiling : tilings) {
    if (!tiling.takes(shape, processors)) continue;
    const size_t rows = tiling.sums_rows(shape, processors);
    most = rows > most ? rows : most;
  }
  return most;
}

/// "64x64x56x56 to 256 by 1x1, bf16, kernels 0a1b": all that times depend on, beside the device.
std::string work_text(const FusedKernels& kernels, const Conv2dParams& params);

/// "1x1 convolutions with sums (64 channels in, tiles of 64x256)". what: the part before the
/// brackets.
inline std::string kernel_text(const std::string& what, const PointwiseTiling& tiling, bool fp16) {
  return what + " (" + std::to_string(tiling.inner) + " channels in, tiles of " + std::to_string(tiling.rows) + "x" +
         std::to_string(tiling.columns) + (fp16 ? ", fp16)" : ")");
}

/// The choice among `tilings`. what: "1x1 convolutions with sums". check, milliseconds: of a tiling.
template <size_t kCount, class Check, class Milliseconds>
const PointwiseTiling* choose_tiling(FusedKernels& kernels, const PointwiseTiling (&tilings)[kCount],
                                     const PointwiseShape& shape, const std::string& what, FusedWork work,
                                     const Check& check, const Milliseconds& milliseconds) {
  std::vector<const PointwiseTiling*> offered;
  for (const PointwiseTiling& tiling : tilings) {
    if (!tiling.takes(shape, kernels.processors)) continue;
    offered.push_back(&tiling);
    const std::string size = std::to_string(tiling.rows) + "x" + std::to_string(tiling.columns);
    work.candidates.push_back({"fused " + size, kernel_text(what, tiling, shape.fp16),
                               [&check, &tiling] { return check(tiling); },
                               [&milliseconds, &tiling] { return milliseconds(tiling); }});
  }
  const auto chosen = choose_fused(kernels.chooser, kernels.checks, work);
  return chosen ? offered[*chosen] : nullptr;
}

/// Of outputs and their sums.
const PointwiseTiling* choose_forward(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                      ConvolutionPlans& plans);
/// Of data gradients to such an end.
const PointwiseTiling* choose_gradient(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                       GradientEndKind kind, ConvolutionPlans& plans);
/// Whether the batch norm behind is merged into gradients.
bool choose_merge(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                  const MergeTilings& tilings, ConvolutionPlans& plans);

}  // namespace trainyard::cuda
