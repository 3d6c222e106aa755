// Which ends of a gradient a convolution may make. No header of the standard library: the device's
// compiler reads this too.
#pragma once

namespace trainyard {

/// Where the gradient of a convolution's input ends: in the batch norm, or the two, that made that
/// input.
enum class GradientEndKind {
  inner,  ///< one with ReLU, which passed what is above zero as normalised; no other gradient
  block,  ///< one with residual and ReLU, which noted what passed; another gradient is added
  pair,   ///< two that are added behind one ReLU (BatchNormPairOp); else as `block`
  mask,   ///< as `block`, where nothing but the sum of g is wanted (MergedNorm)
};

/// Of how many batch norms' inputs products with the gradient are wanted.
constexpr unsigned norms_of(GradientEndKind kind) {
  switch (kind) {
    case GradientEndKind::mask:
      return 0;
    case GradientEndKind::pair:
      return 2;
    default:
      return 1;
  }
}

}  // namespace trainyard
