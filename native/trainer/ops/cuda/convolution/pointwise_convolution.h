// Which convolutions are products with kernels of our own, and those plans with these kernels.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// The convolution as a product: nullopt where a window of more than one pixel, a stride, padding
/// or fp32 makes it none.
std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& params);

/// The end of a gradient for its kernel.
PointwiseEnd pointwise_end(const GradientEnd& end);

/// How a batch norm is merged into a convolution's gradients; nullptr in both: it is not.
struct MergeTilings {
  const PixelsTiling* pixels = nullptr;
  const PointwiseTiling* gradient = nullptr;  ///< of kMergedGradientTilings

  explicit operator bool() const { return pixels != nullptr && gradient != nullptr; }
};

/// The products of such a merge. shape: of the convolution.
struct MergeShapes {
  PixelsShape pixels;
  PointwiseShape gradient;

  explicit MergeShapes(const PointwiseShape& shape)
      : pixels{shape.rows, shape.columns, shape.inner, shape.fp16},
        gradient{shape.rows, shape.inner, shape.columns + shape.inner, shape.fp16} {}
  MergeTilings tilings(unsigned processors) const {
    return {find_tiling(kPixelsTilings, pixels, processors), find_tiling(kMergedGradientTilings, gradient, processors)};
  }
};

/// Which tiling a product of `params` takes; nullptr: none, so `plans` do it.
class TilingChooser {
 public:
  virtual ~TilingChooser() = default;
  /// Of the outputs and their sums.
  virtual const PointwiseTiling* forward(const Conv2dParams& params, const PointwiseShape& shape,
                                         ConvolutionPlans& plans) = 0;
  /// Of the data gradient to such an end.
  virtual const PointwiseTiling* gradient(const Conv2dParams& params, const PointwiseShape& shape, GradientEndKind kind,
                                          ConvolutionPlans& plans) = 0;
  /// Whether the batch norm behind, that of a block, is merged by these tilings.
  virtual bool merges(const Conv2dParams& params, const PointwiseShape& shape, const MergeTilings& tilings,
                      ConvolutionPlans& plans) = 0;
};

/// The steps of a merge, one after the other, as Conv2dOp has them.
class NormMerging {
 public:
  NormMerging(const Launcher& launcher, unsigned processors, const PointwiseShape& shape, const MergeTilings& tilings)
      : launcher_(launcher), processors_(processors), shapes_(shape), tilings_(tilings) {}

  MergeBytes bytes() const {
    const PixelsShape& pixels = shapes_.pixels;
    return {.scratch = tilings_.pixels->partial_numbers(pixels, processors_) * sizeof(float),
            .products = size_t{pixels.results()} * pixels.in * sizeof(float),
            .weights = factors_bytes() + pixels.in * sizeof(float)};
  }
  unsigned sums_rows() const { return tilings_.gradient->sums_rows(shapes_.gradient, processors_); }
  void multiply_pixels(const void* x, const void* g, void* scratch, float* products) const;
  void merge(const void* weights, const float* products, const MergedNorm& norm, float* dw, void* merged) const;
  void backward_data(const void* x, const void* g, const void* merged, const GradientEnd& end, void* dx) const;

 private:
  /// Behind the factors of dx.
  float* bias_of(void* merged) const {
    return reinterpret_cast<float*>(static_cast<std::byte*>(merged) + factors_bytes());
  }
  const float* bias_of(const void* merged) const {
    return reinterpret_cast<const float*>(static_cast<const std::byte*>(merged) + factors_bytes());
  }
  /// Of dx's factors.
  size_t factors_bytes() const { return size_t{shapes_.pixels.in} * shapes_.pixels.factors() * sizeof(uint16_t); }

  const Launcher& launcher_;
  unsigned processors_;
  MergeShapes shapes_;
  MergeTilings tilings_;
};

/// `plans`, and sums with forward and the end of gradients where there are kernels for it. chooser:
/// asked for products that a tiling takes, and lives as long as the plans; nullptr: the first such
/// tiling is taken (pointwise_tiling(), gradient_tiling()).
std::unique_ptr<ConvolutionPlans> with_pointwise_kernels(const Launcher& launcher, unsigned processors,
                                                         const Conv2dParams& params,
                                                         std::unique_ptr<ConvolutionPlans> plans,
                                                         TilingChooser* chooser = nullptr);

}  // namespace trainyard::cuda
