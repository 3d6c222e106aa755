// The two ways to normalise a batch on the device.
#pragma once
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// Kernels of blocks; nullptr for numbers of channels that 16-byte loads do not divide.
std::unique_ptr<BatchNormOp> make_block_batch_norm(const Device& device, const BatchNormParams& params);

/// A thread for each number: any shape, and what the tests compare the blocks with.
std::unique_ptr<BatchNormOp> make_plain_batch_norm(const Device& device, const BatchNormParams& params);

}  // namespace trainyard::cuda
