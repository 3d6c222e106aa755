// Which convolutions are products with kernels of our own, and those plans with these kernels.
#pragma once
#include <memory>
#include <optional>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/pointwise.h"

namespace trainyard::cuda {

/// The convolution as a product: nullopt where a window of more than one pixel, a stride, padding
/// or fp32 makes it none.
std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& params);

/// The end of a gradient for its kernel.
PointwiseEnd pointwise_end(const GradientEnd& end);

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
};

/// `plans`, and sums with forward and the end of gradients where there are kernels for it. chooser:
/// asked for products that a tiling takes, and lives as long as the plans; nullptr: the first such
/// tiling is taken (pointwise_tiling(), gradient_tiling()).
std::unique_ptr<ConvolutionPlans> with_pointwise_kernels(const Launcher& launcher, unsigned processors,
                                                         const Conv2dParams& params,
                                                         std::unique_ptr<ConvolutionPlans> plans,
                                                         TilingChooser* chooser = nullptr);

}  // namespace trainyard::cuda
