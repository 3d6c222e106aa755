#include "trainer/data/pixels/canvas.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {
constexpr int kPoints = 4;  // a side
}

Canvas::Canvas(int size) : size_(size), pixels_(static_cast<size_t>(size) * static_cast<size_t>(size)) {}

void Canvas::fill(const std::function<Colour(Point)>& colour) {
  adjust([&](Point p, Colour) { return colour(p); });
}

void Canvas::adjust(const std::function<Colour(Point, Colour)>& change) {
  Colour* pixel = pixels_.data();
  for (int y = 0; y < size_; ++y) {
    for (int x = 0; x < size_; ++x, ++pixel) *pixel = change({(x + 0.5) / size_, (y + 0.5) / size_}, *pixel);
  }
}

void Canvas::paint(Point center, double reach, double alpha, const std::function<bool(Point)>& inside,
                   const std::function<Colour(Point)>& colour) {
  const auto first = [&](double at) { return std::max(0, static_cast<int>(std::floor((at - reach) * size_))); };
  const auto last = [&](double at) { return std::min(size_ - 1, static_cast<int>(std::floor((at + reach) * size_))); };
  for (int y = first(center.y); y <= last(center.y); ++y) {
    for (int x = first(center.x); x <= last(center.x); ++x) {
      int hits = 0;
      for (int point = 0; point < kPoints * kPoints; ++point) {
        const int row = point / kPoints;
        const double dx = (point % kPoints + 0.5) / kPoints;
        const double dy = (row + 0.5) / kPoints;
        hits += inside({(x + dx) / size_, (y + dy) / size_}) ? 1 : 0;
      }
      if (hits == 0) continue;
      const auto cover = static_cast<float>(alpha * hits / (kPoints * kPoints));
      const Colour over = colour({(x + 0.5) / size_, (y + 0.5) / size_});
      Colour& pixel = pixels_[static_cast<size_t>(y) * static_cast<size_t>(size_) + static_cast<size_t>(x)];
      for (size_t i = 0; i < 3; ++i) pixel[i] += cover * (over[i] - pixel[i]);
    }
  }
}

Image Canvas::image() const {
  Image image{size_, size_, {}};
  image.pixels.reserve(pixels_.size() * 3);
  for (const Colour& pixel : pixels_) {
    for (const float value : pixel) {
      image.pixels.push_back(static_cast<uint8_t>(std::clamp(value * 255.0F + 0.5F, 0.0F, 255.0F)));
    }
  }
  return image;
}

}  // namespace trainyard
