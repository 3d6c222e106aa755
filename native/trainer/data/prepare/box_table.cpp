#include "trainer/data/prepare/box_table.h"

#include <algorithm>
#include <numeric>

#include "common/error.h"

namespace trainyard {

std::string_view image_stem(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);  // none: the whole, as npos + 1 is 0
  return file.substr(0, file.rfind('.'));
}

void BoxTable::add(std::string_view name, std::span<const Box> boxes) {
  if (name.empty() || name.size() > kLongestName) {
    throw Error(Exit::data, "bounding boxes belong to a name of " + std::to_string(name.size()) +
                                " bytes. Give the boxes of images whose names have 1 to " +
                                std::to_string(kLongestName));
  }
  if (lists_.boxes() + boxes.size() > kMostBoxes || lists_.images() == kMostBoxes) {
    throw Error(Exit::data, "there are more than " + std::to_string(kMostBoxes) +
                                " bounding boxes. Give those of the images alone");
  }
  names_ += name;
  name_ends_.push_back(static_cast<uint32_t>(names_.size()));
  lists_.add(boxes);
}

void BoxTable::finish() {
  std::vector<uint32_t> order(images());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return name(a) < name(b); });
  BoxTable sorted;
  for (const uint32_t at : order) {
    if (sorted.images() > 0 && sorted.name(sorted.images() - 1) == name(at)) {
      sorted.lists_.extend(of(at));
    } else {
      sorted.add(name(at), of(at));
    }
  }
  for (size_t image = 0; image < sorted.images(); ++image) {
    if (sorted.of(image).size() <= kMostBoxesOfImage) continue;
    throw Error(Exit::data, std::string(sorted.name(image)) + " has more than " + std::to_string(kMostBoxesOfImage) +
                                " bounding boxes. Look for images of one name");
  }
  sorted.names_.shrink_to_fit();
  sorted.name_ends_.shrink_to_fit();
  sorted.lists_.shrink_to_fit();
  *this = std::move(sorted);
}

std::string_view BoxTable::name(size_t image) const {
  const size_t begin = image == 0 ? 0 : name_ends_[image - 1];
  return std::string_view(names_).substr(begin, name_ends_[image] - begin);
}

std::optional<size_t> BoxTable::find(std::string_view wanted) const {
  size_t low = 0;
  size_t high = images();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (name(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < images() && name(low) == wanted ? std::optional(low) : std::nullopt;
}

}  // namespace trainyard
