#include "trainer/data/pixels/augment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace trainyard {

namespace {

constexpr int kTries = 10;             // torchvision's RandomResizedCrop
constexpr int kTriesForObjects = 100;  // max_attempts of TensorFlow's op

int resized_side(Augment augment, ViewSize size) {
  if (augment != Augment::none) return size.side + size.side / 8;
  return size.resize > 0 ? size.resize : evaluation_resize(size.side);
}

/// The whole image, its shorter side resized to `side`, with a window of image_size still to be
/// placed. The longer side is cut off, not rounded, as in torchvision's Resize (functional.py,
/// _compute_resized_output_size).
View resize_shorter(int side, int image_size, int width, int height) {
  const auto longer = [side](int long_side, int short_side) {
    return static_cast<int>(int64_t{long_side} * side / short_side);
  };
  View view;
  view.from = {0, 0, width, height};
  view.width = width <= height ? side : longer(width, height);
  view.height = height <= width ? side : longer(height, width);
  view.window = {0, 0, image_size, image_size};
  return view;
}

/// Where torchvision's CenterCrop begins (functional.py, center_crop): half of what is left over, a
/// half rounded to the even neighbour as Python's round() does.
int centred(int left_over) {
  const int half = left_over / 2;
  return left_over % 2 == 0 ? half : half + half % 2;
}

/// A random part of the image by area and ratio; nothing where it does not fit.
std::optional<Rect> try_part(int width, int height, Random& random) {
  const double log_low = std::log(3.0 / 4.0);
  const double log_high = std::log(4.0 / 3.0);
  const double area = static_cast<double>(width) * height * random.uniform(0.08, 1.0);
  const double ratio = std::exp(random.uniform(log_low, log_high));
  const auto w = static_cast<int>(std::lround(std::sqrt(area * ratio)));
  const auto h = static_cast<int>(std::lround(std::sqrt(area / ratio)));
  if (w < 1 || h < 1 || w > width || h > height) return std::nullopt;
  const int x = below(random, width - w + 1);
  const int y = below(random, height - h + 1);
  return Rect{x, y, w, h};
}

/// After ten tries that do not fit, the largest centred part whose ratio is allowed.
Rect random_part(int width, int height, Random& random) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (const auto part = try_part(width, height, random)) return *part;
  }
  const int w = std::min(width, std::max(1, static_cast<int>(std::lround(height * 4.0 / 3.0))));
  const int h = std::min(height, std::max(1, static_cast<int>(std::lround(width * 4.0 / 3.0))));
  return {(width - w) / 2, (height - h) / 2, w, h};
}

/// Of a width x height image, whether `part` shows enough of one box.
bool shows_object(const Rect& part, int width, int height, const Objects& objects) {
  const auto area = [](int64_t left, int64_t top, int64_t right, int64_t bottom) {
    return right > left && bottom > top ? (right - left) * (bottom - top) : 0;
  };
  return std::any_of(objects.boxes.begin(), objects.boxes.end(), [&](const Box& box) {
    // Cut off to whole pixels, as TensorFlow's op does.
    const auto left = static_cast<int>(box.xmin * static_cast<float>(width));
    const auto top = static_cast<int>(box.ymin * static_cast<float>(height));
    const auto right = static_cast<int>(box.xmax * static_cast<float>(width));
    const auto bottom = static_cast<int>(box.ymax * static_cast<float>(height));
    const int64_t whole = area(left, top, right, bottom);
    const int64_t shown = area(std::max(left, part.x), std::max(top, part.y), std::min(right, part.x + part.width),
                               std::min(bottom, part.y + part.height));
    return whole > 0 && static_cast<double>(shown) >= objects.min_covered * static_cast<double>(whole);
  });
}

Rect part_with_object(int width, int height, const Objects& objects, Random& random) {
  for (int attempt = 0; attempt < kTriesForObjects; ++attempt) {
    const auto part = try_part(width, height, random);
    if (part && shows_object(*part, width, height, objects)) return *part;
  }
  return {0, 0, width, height};
}

}  // namespace

int below(Random& random, int count) { return static_cast<int>(random.below(static_cast<uint64_t>(count))); }

Augment augment_of(std::string_view name) {
  if (name == "none") return Augment::none;
  if (name == "standard") return Augment::standard;
  if (name == "trivial") return Augment::trivial;
  throw Error(Exit::usage, "--augment " + std::string(name) + " is not known. Use standard, trivial or none");
}

int evaluation_resize(int image_size) { return (image_size * 256 + 112) / 224; }

int shorter_side_needed(Augment augment, int image_size) {
  // A random part can be little more than a quarter of a side; twice the size keeps most parts
  // sharp.
  if (augment != Augment::none && image_size > kSmallImage) return 2 * image_size;
  return resized_side(augment, image_size);
}

View plan_view(Augment augment, ViewSize size, int width, int height, Random& random, const Objects& objects) {
  const int image_size = size.side;
  View view;
  if (augment != Augment::none && image_size > kSmallImage) {
    const bool shows = objects.min_covered > 0 && !objects.boxes.empty();
    view.from = shows ? part_with_object(width, height, objects, random) : random_part(width, height, random);
    view.width = image_size;
    view.height = image_size;
    view.window = {0, 0, image_size, image_size};
  } else {
    view = resize_shorter(resized_side(augment, size), image_size, width, height);
    const int free_x = view.width - image_size;
    const int free_y = view.height - image_size;
    view.window.x = augment != Augment::none ? below(random, free_x + 1) : centred(free_x);
    view.window.y = augment != Augment::none ? below(random, free_y + 1) : centred(free_y);
  }
  view.flip = augment != Augment::none && (random.next() >> 63) != 0;
  return view;
}

}  // namespace trainyard
