#pragma once
#include <memory>

#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// For a first convolution of stride 2 over at most 4 channels of 16 bits (the stem of resnet50): one of
/// stride 1 over four times as many channels, since cuDNN's kernels for 3 channels leave most of the
/// tensor cores idle. nullptr for other convolutions.
std::unique_ptr<ConvolutionPlans> plan_space_to_depth(const Device& device, const Conv2dParams& params);

}  // namespace trainyard::cuda
