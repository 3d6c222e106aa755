// Which convolutions are products with a kernel of our own, and those plans with that kernel.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/pointwise.h"

namespace trainyard::cuda {

/// The convolution as a product: nullopt where a window of more than one pixel, a stride, padding
/// or another type than bf16 makes it none.
std::optional<PointwiseShape> pointwise_shape(const Conv2dParams& params);

/// Which tiling a product takes; nullptr: none, so `plans` do it.
using ChooseTiling = std::function<const PointwiseTiling*(const PointwiseShape& shape, ConvolutionPlans& plans)>;

/// `plans`, and sums with forward where there is a kernel for it (kPointwiseTilings). choose: asked
/// for products that a tiling takes; empty: the first of these tilings.
std::unique_ptr<ConvolutionPlans> with_pointwise_sums(const Launcher& launcher, unsigned processors,
                                                      const Conv2dParams& params,
                                                      std::unique_ptr<ConvolutionPlans> plans,
                                                      const ChooseTiling& choose = {});

}  // namespace trainyard::cuda
