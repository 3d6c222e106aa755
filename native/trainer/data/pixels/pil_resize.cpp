#include "trainer/data/pixels/pil_resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace trainyard {

namespace {

constexpr int kBits = 32 - 8 - 2;  // of a weight
constexpr int32_t kHalf = int32_t{1} << (kBits - 1);

/// Weights are not negative, and their sum may be above one by their roundings only.
uint8_t rounded(int32_t sum) { return static_cast<uint8_t>(std::min(sum >> kBits, 255)); }

}  // namespace

void PilResizer::Taps::set(int inputs, int outputs, int begin, int size) {
#pragma clang fp contract(off)  // each operation rounded by itself, as in Pillow's own builds
  const double step = static_cast<double>(inputs) / outputs;
  const double support = std::max(step, 1.0);
  const double inverse = 1.0 / support;
  stride = static_cast<int>(std::ceil(support)) * 2 + 1;
  first.resize(static_cast<size_t>(size));
  count.resize(static_cast<size_t>(size));
  weights.assign(static_cast<size_t>(size) * static_cast<size_t>(stride), 0);
  std::vector<double> triangle(static_cast<size_t>(stride));
  for (int i = 0; i < size; ++i) {
    const double center = (begin + i + 0.5) * step;
    // Towards zero, as Pillow rounds: below zero comes only what is cut off.
    const int start = std::max(static_cast<int>(center - support + 0.5), 0);
    const int end = std::min(static_cast<int>(center + support + 0.5), inputs);
    double total = 0;
    for (int k = 0; k < end - start; ++k) {
      const double weight = std::max(0.0, 1.0 - std::abs((k + start - center + 0.5) * inverse));
      triangle[static_cast<size_t>(k)] = weight;
      total += weight;
    }
    int32_t* out = weights.data() + static_cast<size_t>(i) * static_cast<size_t>(stride);
    for (int k = 0; k < end - start; ++k) {
      out[k] = static_cast<int32_t>(0.5 + triangle[static_cast<size_t>(k)] / total * (int32_t{1} << kBits));
    }
    first[static_cast<size_t>(i)] = start;
    count[static_cast<size_t>(i)] = end - start;
  }
}

void PilResizer::resize(const Image& image, const View& view, uint8_t* out) {
  const Rect& from = view.from;
  if (image.shrink != 1 || view.flip || from.x != 0 || from.y != 0 || from.width != image.full_width() ||
      from.height != image.full_height()) {
    throw std::logic_error("this resizer is for whole images, decoded at full size");
  }
  const Rect& window = view.window;
  const auto values = static_cast<size_t>(window.width) * 3;
  // At the same size every weight but one is zero, and that one is one: no pixel is touched.
  columns_.set(from.width, view.width, window.x, window.width);
  rows_.set(from.height, view.height, window.y, window.height);
  const int top = rows_.first.front();
  const int bottom = rows_.first.back() + rows_.count.back();
  narrow_.resize(values * static_cast<size_t>(bottom - top));
  for (int y = top; y < bottom; ++y) {
    const uint8_t* row =
        image.pixels.data() + static_cast<size_t>(y - image.top) * static_cast<size_t>(image.width) * 3;
    uint8_t* to = narrow_.data() + static_cast<size_t>(y - top) * values;
    for (int x = 0; x < window.width; ++x, to += 3) {
      const auto column = static_cast<size_t>(x);
      const uint8_t* pixel = row + static_cast<size_t>(columns_.first[column] - image.left) * 3;
      const int32_t* weights = columns_.of(x);
      int32_t red = kHalf;
      int32_t green = kHalf;
      int32_t blue = kHalf;
      for (int k = 0; k < columns_.count[column]; ++k, pixel += 3) {
        red += pixel[0] * weights[k];
        green += pixel[1] * weights[k];
        blue += pixel[2] * weights[k];
      }
      to[0] = rounded(red);
      to[1] = rounded(green);
      to[2] = rounded(blue);
    }
  }
  sums_.resize(values);
  for (int y = 0; y < window.height; ++y, out += values) {
    const auto at = static_cast<size_t>(y);
    const uint8_t* row = narrow_.data() + static_cast<size_t>(rows_.first[at] - top) * values;
    const int32_t* weights = rows_.of(y);
    std::fill(sums_.begin(), sums_.end(), kHalf);
    for (int k = 0; k < rows_.count[at]; ++k, row += values) {
      const int32_t weight = weights[k];
      for (size_t i = 0; i < values; ++i) sums_[i] += row[i] * weight;
    }
    for (size_t i = 0; i < values; ++i) out[i] = rounded(sums_[i]);
  }
}

}  // namespace trainyard
