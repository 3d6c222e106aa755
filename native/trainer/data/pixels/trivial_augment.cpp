#include "trainer/data/pixels/trivial_augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "trainer/data/pixels/augment.h"

// Pillow's compilers round each product by itself, and results are cut off to whole numbers.
#pragma clang fp contract(off)

namespace trainyard {
namespace {

constexpr int kMagnitudes = 31;
constexpr int kChannels = 3;

using Lut = std::array<uint8_t, 256>;

uint8_t clamped(float value) {
  if (value <= 0.0F) return 0;
  return value >= 255.0F ? 255 : static_cast<uint8_t>(value);
}

/// Pillow's Image.blend (Blend.c): `from` at 0, `to` at 1, beyond both outside of that.
uint8_t blended(uint8_t from, uint8_t to, float factor) {
  return clamped(static_cast<float>(from) + factor * static_cast<float>(int{to} - int{from}));
}

/// Pillow's convert("L") (Convert.c, L24).
uint8_t grey_of(const uint8_t* pixel) {
  return static_cast<uint8_t>((pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
}

/// From an output pixel's place to the one in the picture of before: x' = a x + b y + c, y' = d x +
/// e y + f.
struct Affine {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};

/// Python's round(value, 15).
double rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15f", value);
  return std::strtod(text.data(), nullptr);
}

/// Pillow's Image.rotate about the centre, counterclockwise, with its rounding to 15 digits.
Affine rotation(double degrees, int size) {
  const double positive = degrees < 0 ? degrees + 360.0 : degrees;
  const double angle = -(positive * (std::numbers::pi / 180.0));
  const double cosine = rounded(std::cos(angle));
  const double sine = rounded(std::sin(angle));
  const double centre = size / 2.0;
  return {cosine, sine,   cosine * -centre + sine * -centre + centre,
          -sine,  cosine, -sine * -centre + cosine * -centre + centre};
}

/// Of two neighbours, `part` of the way from p to q.
double mixed(double p, double q, double part) { return p + (q - p) * part; }

/// The three values between two pixels of a row.
std::array<double, kChannels> between(const uint8_t* left, const uint8_t* right, double part) {
  return {mixed(left[0], right[0], part), mixed(left[1], right[1], part), mixed(left[2], right[2], part)};
}

/// Pillow's bilinear transform (Geometry.c, bilinear_filter32RGB); black where there is no picture.
/// Shears meet rows or columns exactly, and mix less.
void transform(const Affine& to, int size, const uint8_t* before, uint8_t* out) {
  const auto at = [=](int x, int y) { return before + (size_t{1} * y * size + x) * kChannels; };
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x, out += kChannels) {
      const double from_x = to.a * (x + 0.5) + to.b * (y + 0.5) + to.c;
      const double from_y = to.d * (x + 0.5) + to.e * (y + 0.5) + to.f;
      if (from_x < 0.0 || from_x >= size || from_y < 0.0 || from_y >= size) {
        std::fill_n(out, kChannels, uint8_t{0});
        continue;
      }
      const int left = static_cast<int>(std::floor(from_x - 0.5));
      const int top = static_cast<int>(std::floor(from_y - 0.5));
      const double right_part = from_x - 0.5 - left;
      const double lower_part = from_y - 0.5 - top;
      const int x0 = std::max(left, 0);
      const int x1 = std::min(left + 1, size - 1);
      const int y0 = std::max(top, 0);
      const auto upper = between(at(x0, y0), at(x1, y0), right_part);
      if (lower_part == 0 || top + 1 >= size) {
        for (int channel = 0; channel < kChannels; ++channel) out[channel] = static_cast<uint8_t>(upper[channel]);
        continue;
      }
      const auto lower = between(at(x0, top + 1), at(x1, top + 1), right_part);
      for (int channel = 0; channel < kChannels; ++channel) {
        out[channel] = static_cast<uint8_t>(mixed(upper[channel], lower[channel], lower_part));
      }
    }
  }
}

/// By whole pixels to the right and down; black where there is no picture.
void shift(int right, int down, int size, const uint8_t* before, uint8_t* out) {
  const size_t row = size_t{1} * size * kChannels;
  const int kept = std::max(0, size - std::abs(right));
  std::fill_n(out, row * size, uint8_t{0});
  for (int y = std::max(0, down); y < std::min(size, size + down); ++y) {
    const uint8_t* from = before + (y - down) * row + size_t{1} * std::max(0, -right) * kChannels;
    std::copy_n(from, kept * kChannels, out + y * row + size_t{1} * std::max(0, right) * kChannels);
  }
}

/// Pillow's ImageEnhance.Contrast: away from the rounded mean of the grey picture.
uint8_t mean_grey(size_t count, const uint8_t* pixels) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += grey_of(pixels + i * kChannels);
  return static_cast<uint8_t>(static_cast<double>(sum) / static_cast<double>(count) + 0.5);
}

/// Pillow's ImageFilter.SMOOTH: 5 parts of the pixel and one of each neighbour; edges stay.
void sharpen(float factor, int size, const uint8_t* before, uint8_t* out) {
  const ptrdiff_t row = ptrdiff_t{1} * size * kChannels;
  for (int y = 1; y < size - 1; ++y) {
    for (ptrdiff_t i = y * row + kChannels; i < (y + 1) * row - kChannels; ++i) {
      const uint8_t* at = before + i;
      int sum = 4 * at[0];
      for (const ptrdiff_t line : {-row, ptrdiff_t{0}, row})
        sum += at[line - kChannels] + at[line] + at[line + kChannels];
      const auto smooth = static_cast<uint8_t>((2 * sum + 13) / 26);
      out[i] = blended(smooth, at[0], factor);
    }
  }
}

std::array<int, 256> histogram(size_t count, const uint8_t* values) {
  std::array<int, 256> counts{};
  for (size_t i = 0; i < count; ++i) ++counts[values[i * kChannels]];
  return counts;
}

/// Pillow's ImageOps.autocontrast of one channel, nothing cut off.
Lut stretched(const std::array<int, 256>& counts) {
  Lut lut{};
  int low = 0;
  int high = 255;
  while (low < 255 && counts[low] == 0) ++low;
  while (high > 0 && counts[high] == 0) --high;
  const double scale = high > low ? 255.0 / (high - low) : 1.0;
  const double offset = high > low ? -low * scale : 0.0;
  for (int i = 0; i < 256; ++i) lut[i] = static_cast<uint8_t>(std::clamp(static_cast<int>(i * scale + offset), 0, 255));
  return lut;
}

/// Pillow's ImageOps.equalize of one channel.
Lut equalized(const std::array<int, 256>& counts) {
  Lut lut{};
  int total = 0;
  int last = 0;
  for (const int count : counts) {
    total += count;
    if (count != 0) last = count;
  }
  const int step = (total - last) / 255;
  int n = step / 2;
  for (int i = 0; i < 256; ++i) {
    lut[i] = static_cast<uint8_t>(step == 0 ? i : std::min(n / step, 255));
    n += counts[i];
  }
  return lut;
}

Lut posterized(int bits) {
  Lut lut{};
  for (int i = 0; i < 256; ++i) lut[i] = static_cast<uint8_t>(i & ~((1 << (8 - bits)) - 1));
  return lut;
}

Lut solarized(double from) {
  Lut lut{};
  for (int i = 0; i < 256; ++i) lut[i] = static_cast<uint8_t>(i < from ? i : 255 - i);
  return lut;
}

void look_up(const Lut& lut, int channel, size_t count, uint8_t* pixels) {
  for (size_t i = 0; i < count; ++i) pixels[i * kChannels + channel] = lut[pixels[i * kChannels + channel]];
}

}  // namespace

PixelChange draw_pixel_change(Random& random) {
  PixelChange change{static_cast<PixelOp>(random.below(pixel_ops)), 0};
  const double part = static_cast<double>(random.below(kMagnitudes)) / (kMagnitudes - 1);
  const bool negative = (random.next() >> 63) != 0;
  const auto either = [negative](double magnitude) { return negative ? -magnitude : magnitude; };
  switch (change.op) {
    case PixelOp::shear_x:
    case PixelOp::shear_y:
    case PixelOp::brightness:
    case PixelOp::color:
    case PixelOp::contrast:
    case PixelOp::sharpness:
      change.magnitude = either(0.99 * part);
      break;
    case PixelOp::translate_x:
    case PixelOp::translate_y:
      change.magnitude = either(std::floor(32.0 * part));
      break;
    case PixelOp::rotate:
      change.magnitude = either(135.0 * part);
      break;
    case PixelOp::posterize:
      change.magnitude = 8.0 - std::nearbyint(6.0 * part);
      break;
    case PixelOp::solarize:
      change.magnitude = 255.0 * (1.0 - part);
      break;
    case PixelOp::identity:
    case PixelOp::auto_contrast:
    case PixelOp::equalize:
      break;
  }
  return change;
}

void PixelChanger::apply(const PixelChange& change, int size, uint8_t* pixels) {
  const size_t count = size_t{1} * size * size;
  const double magnitude = change.magnitude;
  const auto factor = static_cast<float>(1.0 + magnitude);
  const auto keep = [&] {
    before_.assign(pixels, pixels + count * kChannels);
    return before_.data();
  };
  const auto each_channel = [&](const auto& lut_of) {
    for (int channel = 0; channel < kChannels; ++channel) look_up(lut_of(channel), channel, count, pixels);
  };
  switch (change.op) {
    case PixelOp::identity:
      return;
    case PixelOp::shear_x:
      return transform({.b = magnitude}, size, keep(), pixels);
    case PixelOp::shear_y:
      return transform({.d = magnitude}, size, keep(), pixels);
    case PixelOp::translate_x:
      return shift(static_cast<int>(magnitude), 0, size, keep(), pixels);
    case PixelOp::translate_y:
      return shift(0, static_cast<int>(magnitude), size, keep(), pixels);
    case PixelOp::rotate:
      return transform(rotation(magnitude, size), size, keep(), pixels);
    case PixelOp::brightness:
      for (size_t i = 0; i < count * kChannels; ++i) pixels[i] = blended(0, pixels[i], factor);
      return;
    case PixelOp::color:
      for (uint8_t* pixel = pixels; pixel < pixels + count * kChannels; pixel += kChannels) {
        const uint8_t grey = grey_of(pixel);
        for (int channel = 0; channel < kChannels; ++channel) pixel[channel] = blended(grey, pixel[channel], factor);
      }
      return;
    case PixelOp::contrast: {
      const uint8_t mean = mean_grey(count, pixels);
      for (size_t i = 0; i < count * kChannels; ++i) pixels[i] = blended(mean, pixels[i], factor);
      return;
    }
    case PixelOp::sharpness:
      return sharpen(factor, size, keep(), pixels);
    case PixelOp::posterize:
      return each_channel([&](int) { return posterized(static_cast<int>(magnitude)); });
    case PixelOp::solarize:
      return each_channel([&](int) { return solarized(magnitude); });
    case PixelOp::auto_contrast:
      return each_channel([&](int channel) { return stretched(histogram(count, pixels + channel)); });
    case PixelOp::equalize:
      return each_channel([&](int channel) { return equalized(histogram(count, pixels + channel)); });
  }
}

void erase_randomly(double probability, int size, Random& random, uint8_t* pixels) {
  constexpr std::array<uint8_t, kChannels> mean{124, 116, 104};
  if (random.uniform() >= probability) return;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(size) * size * random.uniform(0.02, 0.33);
    const double ratio = std::exp(random.uniform(std::log(0.3), std::log(3.3)));
    const auto height = static_cast<int>(std::lround(std::sqrt(area * ratio)));
    const auto width = static_cast<int>(std::lround(std::sqrt(area / ratio)));
    if (height < 1 || width < 1 || height >= size || width >= size) continue;
    const int top = below(random, size - height + 1);
    const int left = below(random, size - width + 1);
    for (int y = top; y < top + height; ++y) {
      uint8_t* pixel = pixels + (size_t{1} * y * size + left) * kChannels;
      for (int x = 0; x < width; ++x) pixel = std::copy(mean.begin(), mean.end(), pixel);
    }
    return;
  }
}

}  // namespace trainyard
