// The two ways to normalise a batch on the device.
#pragma once
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// Kernels of blocks; nullptr where the device does not take 16 bytes of channels at once.
std::unique_ptr<BatchNormOp> make_block_batch_norm(const Device& device, const BatchNormParams& params);

/// A thread for each number: any shape, and what the tests compare the blocks with.
std::unique_ptr<BatchNormOp> make_plain_batch_norm(const Device& device, const BatchNormParams& params);

}  // namespace trainyard::cuda
