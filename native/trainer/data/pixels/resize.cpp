#include "trainer/data/pixels/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

namespace trainyard {

namespace {

/// Four floats, of which the three channels of a pixel use the first three.
using Four = float __attribute__((vector_size(16)));
using FourInts = int32_t __attribute__((vector_size(16)));
using FourBytes = uint8_t __attribute__((vector_size(4)));
using Eight = float __attribute__((vector_size(32)));
using EightBytes = uint8_t __attribute__((vector_size(8)));

template <class Vector, class T>
Vector load(const T* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

/// Sums `count` rows of bytes, `pitch` apart, by their weights: kChunks times eight values at once.
template <int kChunks>
void mix_chunk(const uint8_t* rows, size_t pitch, const float* weights, int count, float* out) {
  Eight sums[kChunks] = {};
  for (int k = 0; k < count; ++k, rows += pitch) {
    for (int i = 0; i < kChunks; ++i) {
      sums[i] += __builtin_convertvector(load<EightBytes>(rows + 8 * i), Eight) * weights[k];
    }
  }
  std::memcpy(out, sums, sizeof(sums));
}

/// The vertical pass of one output row: out[values].
void mix_rows(const uint8_t* rows, size_t pitch, const float* weights, int count, size_t values, float* out) {
  constexpr size_t kWide = 32;
  size_t i = 0;
  for (; i + kWide <= values; i += kWide) mix_chunk<kWide / 8>(rows + i, pitch, weights, count, out + i);
  for (; i + 8 <= values; i += 8) mix_chunk<1>(rows + i, pitch, weights, count, out + i);
  if (i < values && values >= 8) {
    // The last ones again with some before them, rather than one by one.
    mix_chunk<1>(rows + values - 8, pitch, weights, count, out + values - 8);
    return;
  }
  for (; i < values; ++i) {
    out[i] = 0;
    for (int k = 0; k < count; ++k) out[i] += weights[k] * static_cast<float>(rows[static_cast<size_t>(k) * pitch + i]);
  }
}

/// One output pixel. Weights are not negative and their sum is one, so that nothing leaves the
/// range of a byte.
inline FourBytes mix_pixel(const float* pixels, const float* weights, int count) {
  Four sum{0.5F, 0.5F, 0.5F, 0.5F};
  for (int k = 0; k < count; ++k) sum += load<Four>(pixels + 3 * k) * weights[k];
  return __builtin_convertvector(__builtin_convertvector(sum, FourInts), FourBytes);
}

/// The horizontal pass of one output row: `size` pixels of three bytes. kTaps: 0 where `taps` is no
/// constant.
template <int kTaps>
void mix_columns(const float* row, const int* first, const float* weights, int taps, int size, uint8_t* out) {
  const int count = kTaps > 0 ? kTaps : taps;
  int x = 0;
  for (; x + 1 < size; ++x, weights += count, out += 3) {
    const FourBytes pixel = mix_pixel(row + first[x], weights, count);
    std::memcpy(out, &pixel, sizeof(pixel));  // the fourth byte goes where the next pixel will be
  }
  const FourBytes pixel = mix_pixel(row + first[x], weights, count);
  std::memcpy(out, &pixel, 3);
}

using MixColumns = decltype(&mix_columns<0>);

/// Unrolled for the counts that are met at a step of up to two.
MixColumns columns_for(int taps) {
  constexpr MixColumns kUnrolled[] = {mix_columns<0>, mix_columns<1>, mix_columns<2>,
                                      mix_columns<3>, mix_columns<4>, mix_columns<5>};
  return kUnrolled[static_cast<size_t>(taps) < std::size(kUnrolled) ? taps : 0];
}

/// [first, end) of `extent` inputs from `from` on, for outputs [begin, begin + size) of `outputs`.
std::pair<int, int> stretch(int from, int extent, int outputs, int begin, int size) {
  const double step = static_cast<double>(extent) / outputs;
  // As wide as the filter, and one more for roundings.
  const double reach = std::max(step, 1.0) + 1;
  const int first = static_cast<int>(std::floor(begin * step - reach));
  const int end = static_cast<int>(std::ceil((begin + size) * step + reach));
  return {from + std::clamp(first, 0, extent - 1), from + std::clamp(end, 1, extent)};
}

}  // namespace

Rect looked_at(const View& view) {
  const Rect& window = view.window;
  const auto [left, right] = stretch(view.from.x, view.from.width, view.width, window.x, window.width);
  const auto [top, bottom] = stretch(view.from.y, view.from.height, view.height, window.y, window.height);
  return {left, top, right - left, bottom - top};
}

void Resizer::Taps::set(double from, double extent, int inputs, int outputs, int begin, int size) {
  const double step = extent / outputs;
  const double support = std::max(step, 1.0);
  const int low = static_cast<int>(from);
  const int high = std::min(static_cast<int>(std::ceil(from + extent)), inputs);
  const auto bounds = [&](int i) {
    const double center = from + (begin + i + 0.5) * step;
    const int start = std::clamp(static_cast<int>(std::floor(center - support + 0.5)), low, high - 1);
    return std::tuple{center, start, std::clamp(static_cast<int>(center + support + 0.5), start + 1, high)};
  };
  first.resize(static_cast<size_t>(size));
  count.resize(static_cast<size_t>(size));
  stride = 0;
  for (int i = 0; i < size; ++i) {
    const auto [center, start, end] = bounds(i);
    first[static_cast<size_t>(i)] = start;
    count[static_cast<size_t>(i)] = end - start;
    stride = std::max(stride, end - start);
  }
  weights.assign(static_cast<size_t>(size) * static_cast<size_t>(stride), 0.0F);
  for (int i = 0; i < size; ++i) {
    const auto [center, start, end] = bounds(i);
    float* out = weights.data() + static_cast<size_t>(i) * static_cast<size_t>(stride);
    double sum = 0;
    for (int k = start; k < end; ++k) {
      const double weight = std::max(0.0, 1.0 - std::abs(k + 0.5 - center) / support);
      out[k - start] = static_cast<float>(weight);
      sum += weight;
    }
    for (int k = 0; k < end - start; ++k) out[k] = static_cast<float>(out[k] / sum);
  }
}

void Resizer::Taps::mirror() {
  std::reverse(first.begin(), first.end());
  std::reverse(count.begin(), count.end());
  const auto step = static_cast<std::ptrdiff_t>(stride);
  for (auto low = weights.begin(), high = weights.end() - step; low < high; low += step, high -= step) {
    std::swap_ranges(low, low + step, high);
  }
}

void Resizer::resize(const Image& image, const View& view, uint8_t* out) {
  const Rect& window = view.window;
  const double scale = 1.0 / image.shrink;
  columns_.set(view.from.x * scale, view.from.width * scale, image.decoded_width(), view.width, window.x, window.width);
  rows_.set(view.from.y * scale, view.from.height * scale, image.decoded_height(), view.height, window.y,
            window.height);
  // Only the input columns that the window looks at. Both ends rise with the output column.
  const int left = columns_.first.front();
  const int right = columns_.first.back() + columns_.count.back();
  if (view.flip) columns_.mirror();
  for (int& first : columns_.first) first = (first - left) * 3;
  const auto values = static_cast<size_t>(right - left) * 3;
  // Zeros behind it, as every column reads as many pixels as the widest one, and four values of
  // each.
  row_.assign(values + static_cast<size_t>(columns_.stride) * 3 + 1, 0.0F);
  const size_t pitch = static_cast<size_t>(image.width) * 3;
  const uint8_t* corner = image.pixels.data() + static_cast<size_t>(left - image.left) * 3;
  const auto mix = columns_for(columns_.stride);

  for (int y = 0; y < window.height; ++y) {
    const auto row = static_cast<size_t>(y);
    mix_rows(corner + static_cast<size_t>(rows_.first[row] - image.top) * pitch, pitch,
             rows_.weights.data() + row * static_cast<size_t>(rows_.stride), rows_.count[row], values, row_.data());
    mix(row_.data(), columns_.first.data(), columns_.weights.data(), columns_.stride, window.width,
        out + row * static_cast<size_t>(window.width) * 3);
  }
}

}  // namespace trainyard
