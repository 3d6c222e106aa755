// The products of pixels on which a tiling is checked.
#pragma once
#include "trainer/ops/cuda/convolution/pointwise.h"

namespace trainyard::cuda {

/// Their shape, and for how many processors they are cut: two steps, of which the first has a chunk
/// more than the second, and that chunk is not full.
struct PixelsTrial {
  PixelsShape shape;
  unsigned processors;

  static PixelsTrial of(const PixelsTiling& tiling, bool fp16) {
    constexpr unsigned kStages = 6;  // as many as any tiling has, which a block uses again and again
    constexpr unsigned kSteps = 2;
    constexpr unsigned kChunks = kSteps * (2 * kStages + 1);
    PixelsShape shape{kChunks * 64 + 27, tiling.out, tiling.in, fp16};
    return {shape, kSteps * tiling.across(shape)};
  }
  /// Pixels of a step at most.
  size_t each(const PixelsTiling& tiling) const {
    const size_t steps = tiling.steps(shape, processors);
    return (tiling.chunks(shape) + steps - 1) / steps * 64;
  }
};

}  // namespace trainyard::cuda
