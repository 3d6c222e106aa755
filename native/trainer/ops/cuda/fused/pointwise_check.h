// Whether the kernels of 1x1 convolutions compute rightly on a device.
#pragma once
#include <string>

#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// Runs the tiling's kernel of outputs and their sums on random numbers, and compares with sums in
/// double on the host: every row of d in every 32nd column, other columns in each row, and all sums
/// of what d holds. Memory behind d and behind the sums has to stay as it is. "" where all that is
/// right, otherwise the first difference. Waits for the device.
std::string check_pointwise(const Device& device, const PointwiseTiling& tiling, bool fp16);

/// The same of the kernel of data gradients to such an end.
std::string check_gradient(const Device& device, const PointwiseTiling& tiling, GradientEndKind kind, bool fp16);

/// The same of the kernel of products of pixels, and of all its numbers.
std::string check_pixels(const Device& device, const PixelsTiling& tiling, bool fp16);
/// The same of `inner` ends with a PointwiseMerge. tiling: one of kMergedGradientTilings.
std::string check_merged_gradient(const Device& device, const PointwiseTiling& tiling, bool fp16);

}  // namespace trainyard::cuda
