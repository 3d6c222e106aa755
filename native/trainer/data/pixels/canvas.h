// A small painter: flat and shaded areas with smooth edges.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "trainer/data/images/image.h"

namespace trainyard {

/// Red, green, blue, each 0 to 1.
using Colour = std::array<float, 3>;

struct Point {
  double x = 0;
  double y = 0;
};

inline bool within(Point p, Point center, double radius) {
  const double x = p.x - center.x;
  const double y = p.y - center.y;
  return x * x + y * y < radius * radius;
}

/// Coordinates run from 0 to 1 over both sides, y downwards.
class Canvas {
 public:
  explicit Canvas(int size);

  /// colour(p) for each pixel's centre.
  void fill(const std::function<Colour(Point)>& colour);

  /// Lays colour(p) over each pixel by `alpha` times the part of it that is inside, which is the
  /// share of 4 x 4 points for which inside(p) holds. Only pixels within `reach` of `center` are
  /// looked at.
  void paint(Point center, double reach, double alpha, const std::function<bool(Point)>& inside,
             const std::function<Colour(Point)>& colour);

  /// Replaces each pixel by change(its centre, its colour).
  void adjust(const std::function<Colour(Point, Colour)>& change);

  /// Rounded to 8 bits, values below 0 and above 1 cut off.
  Image image() const;

 private:
  int size_;
  std::vector<Colour> pixels_;  ///< [size, size]
};

}  // namespace trainyard
