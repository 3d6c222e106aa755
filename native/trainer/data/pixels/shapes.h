// The shapes of the demonstration data set, one a class.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "trainer/data/pixels/canvas.h"

namespace trainyard {

struct DrawnShape {
  std::string name;
  /// Whether a point belongs to the shape, which lies around (0, 0) within a radius of 1.
  std::function<bool(Point)> inside;
};

/// Eight shapes, those that are easiest to tell apart first.
const std::vector<DrawnShape>& shapes();

}  // namespace trainyard
