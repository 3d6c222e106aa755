#include "trainer/data/pixels/shapes.h"

#include <cmath>
#include <numbers>

namespace trainyard {

namespace {

/// Even-odd rule: a point is inside when a ray from it crosses the outline an odd number of times.
std::function<bool(Point)> polygon(std::vector<Point> corners) {
  return [corners = std::move(corners)](Point p) {
    bool inside = false;
    for (size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
      const Point& a = corners[i];
      const Point& b = corners[j];
      if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) * (b.x - a.x) / (b.y - a.y)) inside = !inside;
    }
    return inside;
  };
}

/// Corners at equal angles, the first one up, their distances from the centre taken in turn from
/// `radii`.
std::function<bool(Point)> regular(int corners, const std::vector<double>& radii) {
  std::vector<Point> points;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners;
    const double radius = radii[static_cast<size_t>(i) % radii.size()];
    points.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  return polygon(std::move(points));
}

bool in_heart(Point p) {
  // The curve (x^2 + y^2 - 1)^3 = x^2 y^3, scaled and moved to lie within the unit circle.
  const double x = p.x * 1.33;
  const double y = 0.12 - p.y * 1.33;
  const double ring = x * x + y * y - 1;
  return ring * ring * ring < x * x * y * y * y;
}

}  // namespace

const std::vector<DrawnShape>& shapes() {
  static const std::vector<DrawnShape> all{
      {"circle", [](Point p) { return within(p, {}, 0.85); }},
      {"triangle", regular(3, {1.0})},
      {"square", regular(4, {0.98})},
      {"star", regular(10, {1.0, 0.42})},
      {"cross",
       [](Point p) {
         const double x = std::abs(p.x);
         const double y = std::abs(p.y);
         return (x < 0.26 && y < 0.92) || (y < 0.26 && x < 0.92);
       }},
      {"ring", [](Point p) { return within(p, {}, 0.9) && !within(p, {}, 0.52); }},
      {"crescent", [](Point p) { return within(p, {}, 0.95) && !within(p, {0.48, 0}, 0.78); }},
      {"heart", in_heart},
  };
  return all;
}

}  // namespace trainyard
