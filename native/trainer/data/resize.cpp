#include "trainer/data/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace trainyard {

namespace {

/// Four floats, of which the three channels of a pixel use the first three.
using Four = float __attribute__((vector_size(16)));

/// [first, end) of `extent` inputs from `from` on, for outputs [begin, begin + size) of `outputs`.
std::pair<int, int> stretch(int from, int extent, int outputs, int begin, int size) {
  const double step = static_cast<double>(extent) / outputs;
  // As wide as the filter, and one more for roundings.
  const double reach = std::max(step, 1.0) + 1;
  const int first = static_cast<int>(std::floor(begin * step - reach));
  const int end = static_cast<int>(std::ceil((begin + size) * step + reach));
  return {from + std::clamp(first, 0, extent - 1), from + std::clamp(end, 1, extent)};
}

uint8_t to_byte(float value) { return static_cast<uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F)); }

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
  stride = static_cast<int>(std::ceil(support)) * 2 + 1;
  first.resize(static_cast<size_t>(size));
  count.resize(static_cast<size_t>(size));
  weights.resize(static_cast<size_t>(size) * static_cast<size_t>(stride));
  for (int i = 0; i < size; ++i) {
    const double center = from + (begin + i + 0.5) * step;
    const int start = std::clamp(static_cast<int>(std::floor(center - support + 0.5)), low, high - 1);
    const int end = std::clamp(static_cast<int>(center + support + 0.5), start + 1, high);
    float* out = weights.data() + static_cast<size_t>(i) * static_cast<size_t>(stride);
    double sum = 0;
    for (int k = start; k < end; ++k) {
      const double weight = std::max(0.0, 1.0 - std::abs(k + 0.5 - center) / support);
      out[k - start] = static_cast<float>(weight);
      sum += weight;
    }
    for (int k = 0; k < end - start; ++k) out[k] = static_cast<float>(out[k] / sum);
    first[static_cast<size_t>(i)] = start;
    count[static_cast<size_t>(i)] = end - start;
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
  const auto values = static_cast<size_t>(right - left) * 3;
  row_.assign(values + 1, 0.0F);  // one more, as pixels are read four values at a time
  const size_t pitch = static_cast<size_t>(image.width) * 3;
  const uint8_t* corner = image.pixels.data() + static_cast<size_t>(left - image.left) * 3;

  for (int y = 0; y < window.height; ++y) {
    const auto row = static_cast<size_t>(y);
    std::fill_n(row_.begin(), values, 0.0F);
    for (int k = 0; k < rows_.count[row]; ++k) {
      const float weight = rows_.weights[row * static_cast<size_t>(rows_.stride) + static_cast<size_t>(k)];
      const uint8_t* source = corner + static_cast<size_t>(rows_.first[row] - image.top + k) * pitch;
      float* sums = row_.data();
      for (size_t i = 0; i < values; ++i) sums[i] += weight * static_cast<float>(source[i]);
    }
    uint8_t* out_row = out + row * static_cast<size_t>(window.width) * 3;
    for (int x = 0; x < window.width; ++x) {
      const auto column = static_cast<size_t>(x);
      const float* source = row_.data() + static_cast<size_t>(columns_.first[column] - left) * 3;
      const float* weights = columns_.weights.data() + column * static_cast<size_t>(columns_.stride);
      Four sum{};
      for (int k = 0; k < columns_.count[column]; ++k) {
        Four pixel;
        std::memcpy(&pixel, source + 3 * k, sizeof(pixel));
        sum += pixel * weights[k];
      }
      uint8_t* target = out_row + 3 * (view.flip ? window.width - 1 - x : x);
      for (int channel = 0; channel < 3; ++channel) target[channel] = to_byte(sum[channel]);
    }
  }
}

}  // namespace trainyard
