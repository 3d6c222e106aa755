// Which tilings 1x1 convolutions take on a device: checked there, and by time where --tune asks for
// that.
#pragma once
#include <memory>

#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/fused/fused_kernels.h"

namespace trainyard::cuda {

/// Candidates are the tilings that take a shape, in the order of their table. With a chooser in
/// `kernels`, the time of each is that of the product and of the batch norm that it is for, on
/// random numbers: the statistics forward, all of the batch norm backward. kernels: lives as long.
std::unique_ptr<TilingChooser> make_tiling_chooser(FusedKernels& kernels);

}  // namespace trainyard::cuda
