// Which part of an image is looked at, at which size: random for training, fixed for evaluation.
#pragma once
#include <span>
#include <string_view>

#include "trainer/base/random.h"
#include "trainer/data/pixels/resize.h"
#include "trainer/data/source.h"

namespace trainyard {

/// Uniform in [0, count).
int below(Random& random, int count);

/// Of its name. Throws Error(Exit::usage) for another one.
Augment augment_of(std::string_view name);

/// What becomes of an image. An int is the side alone.
struct ViewSize {
  ViewSize(int of_side, int resized = 0) : side(of_side), resize(resized) {}  // NOLINT(google-explicit-constructor)
  int side;                                                                   ///< pixels a side of the view
  int resize;  ///< with Augment::none, the shorter side that the image is resized to; 0: evaluation_resize
};

/// torchvision's presets resize to 256 for a view of 224 and to 342 for one of 299: the ratio of
/// 256 to 224, rounded.
int evaluation_resize(int image_size);

/// Up to so many pixels a side, crops are CIFAR's; above, ImageNet's.
constexpr int kSmallImage = 64;

/// What a random crop of ImageNet's kind must show of an image.
struct Objects {
  std::span<const Box> boxes{};
  double min_covered = 0;  ///< the part of at least one box, by area; 0: no matter
};

/// The shorter side an image needs to be decoded at so that no view of it is blurred without need.
int shorter_side_needed(Augment augment, int image_size);

/// The view of a width x height image that becomes [size.side, size.side, 3].
/// none: the shorter side resized to size.resize, the centre cropped, with the sides and places of
/// torchvision's Resize and CenterCrop.
/// standard, up to 64 pixels: the shorter side resized to size.side * 9/8, a random crop, mirrored
/// half of the time (He et al. 2015, section 4.2, whose 4 pixels of padding become 4 pixels of
/// picture). standard, above: 8 to 100 % of the area at a ratio of 3/4 to 4/3, mirrored half of the
/// time (Szegedy et al. 2015, section 6). trivial: as standard; what it does to the pixels comes
/// after (trivial_augment.h). Where `objects` says so, a crop above 64 pixels that shows too little
/// of every box is drawn again, and after 100 tries the whole image is taken, as in TensorFlow's
/// tensorflow/core/kernels/image/sample_distorted_bounding_box_op.cc. Boxes are counted in whole
/// pixels, as there; one without any is shown by no crop.
View plan_view(Augment augment, ViewSize size, int width, int height, Random& random, const Objects& objects = {});

}  // namespace trainyard
