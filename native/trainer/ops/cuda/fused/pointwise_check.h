// Whether the kernel of 1x1 convolutions with sums computes rightly on a device.
#pragma once
#include <string>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/pointwise.h"

namespace trainyard::cuda {

/// The product on which a tiling is checked, and for how many processors it is cut: two tiles of
/// columns, and rows for blocks that take several tiles each. The last tile is not full.
struct PointwiseTrial {
  PointwiseShape shape;
  unsigned processors;

  static PointwiseTrial of(const PointwiseTiling& tiling);
};

/// Runs the tiling's kernel on random numbers, and compares with sums in double on the host: every
/// row of d in every 32nd column, other columns in each row, and all sums of what d holds. Memory
/// behind d and behind the sums has to stay as it is. "" where all that is right, otherwise the
/// first difference. Waits for the device.
std::string check_pointwise(const Device& device, const PointwiseTiling& tiling);

}  // namespace trainyard::cuda
