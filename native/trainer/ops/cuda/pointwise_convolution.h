// Which convolutions are products with a kernel of our own, and those plans with that kernel.
#pragma once
#include <memory>
#include <optional>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/pointwise.h"

namespace trainyard::cuda {

/// The convolution as a product: nullopt where a window of more than one pixel, a stride, padding
/// or fp32 makes it none.
std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& params);

/// `plans`, and sums with forward and the end of gradients where there are kernels for it
/// (pointwise_tiling(), gradient_tiling()).
std::unique_ptr<ConvolutionPlans> with_pointwise_sums(const Launcher& launcher, unsigned processors,
                                                      const Conv2dParams& params,
                                                      std::unique_ptr<ConvolutionPlans> plans);

}  // namespace trainyard::cuda
