// One image's bounding boxes as Pascal VOC writes them (the development kit's VOC2012 annotations),
// which is what ImageNet's are.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "trainer/data/boxes.h"

namespace trainyard {

struct Annotation {
  std::vector<Box> boxes;
  int64_t without_area = 0;  ///< boxes that were left out
};

/// A file that is no annotation: `what()` says why, without the file's name.
class BadAnnotation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads annotation/size/{width,height} and annotation/object/bndbox/{xmin,ymin,xmax,ymax}, of any
/// number of objects; all else is passed over, attributes and <filename> too (in ImageNet's it is
/// "%s" here and there). Coordinates are pixels of an image of that size, and become parts of it as
/// box_between says. Elements must be closed, entities are not resolved, and nothing outside of
/// `xml` is read. Throws BadAnnotation for anything else: another root, a number that is missing or
/// none, elements nested deeper than 32.
Annotation read_annotation(std::string_view xml);

}  // namespace trainyard
