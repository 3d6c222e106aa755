// Which tiling a 1x1 convolution takes for its outputs and batch norm's sums of them.
#pragma once
#include "trainer/ops/cuda/fused/fused_kernels.h"
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/pointwise.h"

namespace trainyard::cuda {

/// nullptr: none, so `plans` computes the outputs and batch norm reads them. Candidates are the
/// tilings that take the shape, in the order of kPointwiseTilings. With a chooser, the time of each
/// is that of the product and of the statistics that follow from it, on random numbers.
/// shape: that of `params`.
const PointwiseTiling* choose_pointwise(FusedKernels& kernels, const Conv2dParams& params, const PointwiseShape& shape,
                                        ConvolutionPlans& plans);

}  // namespace trainyard::cuda
