// Bounding boxes of the objects in images.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trainyard {

constexpr size_t kMostBoxesOfImage = 10'000;

/// A bounding box in parts of the image's width (x) and height (y), from the upper left corner of
/// the picture as it is stored: EXIF's orientation is not followed. 0 <= min < max <= 1.
struct Box {
  float xmin = 0;
  float ymin = 0;
  float xmax = 0;
  float ymax = 0;
  bool operator==(const Box&) const = default;
};

/// The box between two corners, cut off at the image's edges; nothing where no area is left, or a
/// number is none. Which corner comes first does not matter, as in process_bounding_boxes.py of
/// tensorflow/models (research/inception).
inline std::optional<Box> box_between(double x1, double y1, double x2, double y2) {
  const auto inside = [](double value) { return static_cast<float>(std::clamp(value, 0.0, 1.0)); };
  const Box box{inside(std::min(x1, x2)), inside(std::min(y1, y2)), inside(std::max(x1, x2)), inside(std::max(y1, y2))};
  // Not a number compares as false.
  return box.xmin < box.xmax && box.ymin < box.ymax ? std::optional(box) : std::nullopt;
}

/// The boxes of one image after the other: 16 bytes a box and 4 an image.
class BoxLists {
 public:
  void add(std::span<const Box> boxes) {
    boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
    ends_.push_back(static_cast<uint32_t>(boxes_.size()));
  }
  /// More boxes of the image that was added last.
  void extend(std::span<const Box> boxes) {
    boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
    ends_.back() = static_cast<uint32_t>(boxes_.size());
  }
  void shrink_to_fit() {
    boxes_.shrink_to_fit();
    ends_.shrink_to_fit();
  }
  std::span<const Box> of(size_t image) const {
    const size_t begin = image == 0 ? 0 : ends_[image - 1];
    return std::span(boxes_).subspan(begin, ends_[image] - begin);
  }
  size_t images() const { return ends_.size(); }
  size_t boxes() const { return boxes_.size(); }

 private:
  std::vector<Box> boxes_;
  std::vector<uint32_t> ends_;
};

}  // namespace trainyard
