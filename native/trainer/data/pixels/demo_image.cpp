#include "trainer/data/pixels/demo_image.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

Colour mix(const Colour& a, const Colour& b, double share) {
  Colour out{};
  for (size_t i = 0; i < 3; ++i) out[i] = a[i] + static_cast<float>(share) * (b[i] - a[i]);
  return out;
}

Colour scale(const Colour& colour, double by) {
  Colour out{};
  for (size_t i = 0; i < 3; ++i) out[i] = colour[i] * static_cast<float>(by);
  return out;
}

/// Hue, saturation and value, each 0 to 1, to RGB (Smith 1978, "Color Gamut Transform Pairs").
Colour from_hsv(double hue, double saturation, double value) {
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue * 6, 6.0);
    return static_cast<float>(value - value * saturation * std::clamp(std::min(k, 4 - k), 0.0, 1.0));
  };
  return {channel(5), channel(3), channel(1)};
}

/// Brightness as the eye weighs the channels (ITU-R BT.601).
double luma(const Colour& c) {
  return 0.299 * static_cast<double>(c[0]) + 0.587 * static_cast<double>(c[1]) + 0.114 * static_cast<double>(c[2]);
}

Colour any_colour(Random& random) {
  const double hue = random.uniform();
  const double saturation = random.uniform(0.1, 0.85);
  return from_hsv(hue, saturation, random.uniform(0.2, 1.0));
}

/// Grounds are dim and shapes bright. Were it the other way round half of the time, a small network
/// would need many times the images before it looked at outlines at all.
Colour ground_colour(Random& random) {
  const double hue = random.uniform();
  const double saturation = random.uniform(0.1, 0.6);
  return from_hsv(hue, saturation, random.uniform(0.1, 0.5));
}

/// A colour clearly brighter than `ground`; the best of forty where none is bright enough.
Colour brighter_than(const Colour& ground, Random& random) {
  Colour best = any_colour(random);
  for (int attempt = 0; attempt < 40 && luma(best) - luma(ground) < 0.3; ++attempt) {
    const Colour other = any_colour(random);
    if (luma(other) > luma(best)) best = other;
  }
  return best;
}

/// Nearly normal with variance 1: the sum of four uniform numbers, all from one draw.
double sensor_noise(Random& random) {
  const uint64_t bits = random.next();
  const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) / 65536.0 - 2.0) * std::numbers::sqrt3;
}

Point random_point(Random& random) {
  const double x = random.uniform();
  return {x, random.uniform()};
}

std::function<Colour(Point)> plain(const Colour& colour) {
  return [colour](Point) { return colour; };
}

/// A ramp from a to b across the image in a random direction.
std::function<Colour(Point)> ramp(const Colour& a, const Colour& b, Random& random) {
  const double angle = random.uniform(0, kTurn);
  const Point along{std::cos(angle), std::sin(angle)};
  return [=](Point p) {
    const double at = 0.5 + ((p.x - 0.5) * along.x + (p.y - 0.5) * along.y) / std::numbers::sqrt2;
    return mix(a, b, at);
  };
}

void add_blob(Canvas& canvas, const Colour& colour, double radius, double alpha, Random& random) {
  const Point at = random_point(random);
  canvas.paint(at, radius, alpha, [=](Point p) { return within(p, at, radius); }, plain(colour));
}

void add_line(Canvas& canvas, const Colour& colour, double half_length, double half_width, double alpha,
              Random& random) {
  const Point at = random_point(random);
  const double angle = random.uniform(0, kTurn);
  const Point along{std::cos(angle), std::sin(angle)};
  const auto inside = [=](Point p) {
    const Point d{p.x - at.x, p.y - at.y};
    return std::abs(d.x * along.x + d.y * along.y) < half_length &&
           std::abs(d.x * along.y - d.y * along.x) < half_width;
  };
  canvas.paint(at, half_length + half_width, alpha, inside, plain(colour));
}

/// Soft patches, thin lines and specks, none as large as a shape.
void add_clutter(Canvas& canvas, const Colour& ground, Random& random) {
  for (uint64_t i = random.below(4); i > 0; --i) {
    const double radius = random.uniform(0.1, 0.3);
    add_blob(canvas, mix(ground, any_colour(random), 0.5), radius, random.uniform(0.15, 0.4), random);
  }
  for (uint64_t i = 1 + random.below(4); i > 0; --i) {
    const Colour colour = any_colour(random);
    const double half_length = random.uniform(0.06, 0.25);
    add_line(canvas, colour, half_length, random.uniform(0.006, 0.018), random.uniform(0.3, 0.8), random);
  }
  for (uint64_t i = 1 + random.below(6); i > 0; --i) {
    const Colour colour = any_colour(random);
    add_blob(canvas, colour, random.uniform(0.012, 0.035), random.uniform(0.4, 0.9), random);
  }
}

void add_shape(Canvas& canvas, const DrawnShape& shape, const Colour& ground, Random& random) {
  const double radius = random.uniform(0.29, 0.42);
  const double play = 0.5 - radius * 0.92;  // up to a little over the edge
  const Point at{0.5 + random.uniform(-play, play), 0.5 + random.uniform(-play, play)};
  const double angle = random.uniform(0, kTurn);
  const Point along{std::cos(angle) / radius, std::sin(angle) / radius};
  const auto placed = [&shape, along](Point center) {
    return [&shape, along, center](Point p) {
      const Point d{p.x - center.x, p.y - center.y};
      return shape.inside({d.x * along.x + d.y * along.y, d.y * along.x - d.x * along.y});
    };
  };
  const Point shadow{at.x + random.uniform(-0.03, 0.03), at.y + random.uniform(0.0, 0.03)};
  canvas.paint(shadow, radius, random.uniform(0.1, 0.3), placed(shadow), plain({0, 0, 0}));
  const Colour colour = brighter_than(ground, random);
  const Colour dark = scale(colour, random.uniform(0.85, 1.0));
  const auto shading = ramp(dark, scale(colour, random.uniform(1.0, 1.15)), random);
  canvas.paint(at, radius, 1.0, placed(at), shading);
}

}  // namespace

Image draw_demo_image(const DrawnShape& shape, int size, Random& random) {
  Canvas canvas(size);
  const Colour ground = ground_colour(random);
  const Colour far_ground = mix(ground, any_colour(random), 0.35);
  canvas.fill(ramp(ground, far_ground, random));
  const Colour middle = mix(ground, far_ground, 0.5);
  add_clutter(canvas, middle, random);
  add_shape(canvas, shape, middle, random);
  for (uint64_t i = random.below(3); i > 0; --i) {
    const Colour colour = any_colour(random);
    const double half_length = random.uniform(0.05, 0.15);
    add_line(canvas, colour, half_length, random.uniform(0.005, 0.012), 0.7, random);
  }
  const double dark = random.uniform(0.65, 1.0);
  const double light = random.uniform(0.9, 1.15);
  const auto lamp = ramp({1, 1, 1}, scale({1, 1, 1}, dark), random);
  const double noise = random.uniform(0.01, 0.04);
  canvas.adjust([&](Point p, Colour colour) {
    const double brightness = light * static_cast<double>(lamp(p)[0]);
    for (float& value : colour) value = static_cast<float>(value * brightness + noise * sensor_noise(random));
    return colour;
  });
  return canvas.image();
}

}  // namespace trainyard
