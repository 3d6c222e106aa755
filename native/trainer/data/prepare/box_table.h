// Bounding boxes by the names of their images.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/boxes.h"

namespace trainyard {

/// The file's own name without its folders and its ending: "n01440764_10040" of
/// "n01440764/n01440764_10040.JPEG".
std::string_view image_stem(std::string_view path);

/// Takes 24 bytes an image beside its name, and 16 a box: ImageNet's 615,299 boxes of 544,546 images
/// about 25 MB, and up to 70 MB until finish() is done.
class BoxTable {
 public:
  static constexpr size_t kMostBoxes = 10'000'000;
  static constexpr size_t kLongestName = 255;  ///< bytes

  /// name: as image_stem gives it. Throws Error(Exit::data) for an empty or too long name, and for
  /// more boxes in all, or images, than kMostBoxes.
  void add(std::string_view name, std::span<const Box> boxes);
  /// Once all are added, before anything is asked for: boxes that were added under the same name
  /// become those of one image, in the order in which they were added. Throws Error(Exit::data) for
  /// an image of more than kMostBoxesOfImage.
  void finish();

  size_t images() const { return lists_.images(); }
  size_t boxes() const { return lists_.boxes(); }
  /// The number of the image with that name, below images().
  std::optional<size_t> find(std::string_view name) const;
  std::string_view name(size_t image) const;
  std::span<const Box> of(size_t image) const { return lists_.of(image); }

 private:
  std::string names_;  ///< one after the other
  std::vector<uint32_t> name_ends_;
  BoxLists lists_;
};

}  // namespace trainyard
