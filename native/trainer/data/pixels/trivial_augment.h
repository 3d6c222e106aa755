// What changes the pixels of a training image after its crop and flip: TrivialAugment and random
// erasing, as torchvision's training recipes have them.
#pragma once
#include <cstdint>
#include <vector>

#include "trainer/base/random.h"

namespace trainyard {

/// The operations of TrivialAugment's "wide" space (Müller and Hutter 2021, doi:10.1109/
/// ICCV48922.2021.00081, table 7), in the order of torchvision's TrivialAugmentWide.
enum class PixelOp {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  color,
  contrast,
  sharpness,
  posterize,
  solarize,
  auto_contrast,
  equalize,
};
constexpr int pixel_ops = 14;

/// One operation and how strong it is: a slope for shears, pixels for translations, degrees for
/// rotate, the difference from 1 of the factor for brightness to sharpness, bits that are kept for
/// posterize, the level from which values are inverted for solarize. The others have none.
struct PixelChange {
  PixelOp op = PixelOp::identity;
  double magnitude = 0;
};

/// One operation of all, each as likely, at one of 31 magnitudes; those with a sign are negative
/// half of the time.
PixelChange draw_pixel_change(Random& random);

/// Changes pixels [size, size, 3] (RGB) in place, to the bits of Pillow: what torchvision's
/// TrivialAugmentWide(interpolation=BILINEAR, fill=0) does to a PIL image. After a shear a few
/// values in 1,000 may differ by 1: torchvision rounds its slope by way of an angle.
class PixelChanger {
 public:
  void apply(const PixelChange& change, int size, uint8_t* pixels);

 private:
  std::vector<uint8_t> before_;  ///< [size, size, 3]
};

/// With this probability one part of pixels [size, size, 3] becomes (124, 116, 104), which is
/// ImageNet's mean and so nearly 0 after normalization: 2 to 33 % of the area at a ratio of 0.3 to
/// 3.3; nothing where ten tries do not fit (Zhong et al. 2020, doi:10.1609/aaai.v34i07.7000, as
/// torchvision's RandomErasing).
void erase_randomly(double probability, int size, Random& random, uint8_t* pixels);

}  // namespace trainyard
