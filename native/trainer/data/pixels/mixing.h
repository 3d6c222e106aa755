// Mixes each image of a training batch with the one before it: mixup and cutmix, as torchvision's
// references/classification have them.
#pragma once
#include <cstdint>

#include "trainer/base/random.h"
#include "trainer/base/view.h"
#include "trainer/data/source.h"

namespace trainyard {

/// Beta(alpha, alpha), for alpha above 0. There are two ways:
/// - Up to 1, Jöhnk's algorithm (1964, Metrika 8, p. 5). It works on logarithms, since powers
///   underflow where alpha is small. Above 1 it would refuse ever more draws.
/// - Above 1, a point in a disc whose density is (1 - r^2)^(alpha - 3/2), which refuses none. It has
///   r^2 = 1 - u^(2 / (2 alpha - 1)) for a uniform u. Along any diameter the density is
///   (1 - x^2)^(alpha - 1), Beta's on [-1, 1] (Ulrich 1984, doi:10.2307/2347441).
double draw_beta(double alpha, Random& random);

/// What is done to all images of a batch alike.
struct Mixture {
  /// Of each image itself; the one before it has the rest. With mixup a multiple of 2^-16, so that
  /// pixels and targets have the very same.
  double share = 1;
  bool cut = false;  ///< cutmix: `box` is the other image's. Else all pixels are sums
  Rect box{};
};

/// cutmix's part of an image of size x size, about (x, y): sides of sqrt(1 - lambda) of its own,
/// rounded down to even numbers and cut off at its edges (Yun et al. 2019, arXiv:1905.04899, as
/// torchvision's RandomCutmix).
Rect cutmix_box(double lambda, int x, int y, int size);

/// At least one of both has to be above 0. With mixup the share is from Beta(alpha, alpha) (Zhang
/// et al. 2018, arXiv:1710.09412). With cutmix it is what the box leaves.
Mixture draw_mixture(const Mixing& mixing, int size, Random& random);

/// Mixes images [count, size, size, 3] in place, each with the one before it and the first with the
/// last, as they were. Sums are rounded to the nearest byte.
void mix_images(const Mixture& mixture, int count, int size, uint8_t* images);

/// Images and labels. `labels` are those with the larger share then; of halves, the image's own.
void mix_batch(const Mixture& mixture, int size, Batch& batch);

}  // namespace trainyard
