// A view of a decoded image, by the filter of data/resize.h.
#pragma once
#include "trainer/base/view.h"
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// One direction of a view.
struct ResizeAxis {
  int from, extent;  // of the image
  double step;       // inputs for each output
  int begin;         // the window's first output
};

/// What an output sees of one direction: inputs [first, end) by a triangle around `centre`.
struct ResizeTaps {
  int first, end;
  float centre;   // counted from the middle of `first`, so that floats are as good for large images
  float inverse;  // of half the triangle's width

  TRAINYARD_HD static ResizeTaps of(const ResizeAxis& axis, int output) {
    // In double, as the host does: whether an input is seen at all must not depend on a rounding.
    const double support = axis.step > 1.0 ? axis.step : 1.0;
    const double centre = axis.from + (axis.begin + output + 0.5) * axis.step;
    const int last = axis.from + axis.extent - 1;
    int first = static_cast<int>(floor(centre - support + 0.5));
    first = first < axis.from ? axis.from : first > last ? last : first;
    int end = static_cast<int>(centre + support + 0.5);
    end = end <= first ? first + 1 : end > last + 1 ? last + 1 : end;
    return {first, end, static_cast<float>(centre - first - 0.5), static_cast<float>(1.0 / support)};
  }

  /// Not negative; of what sum is the caller's to divide by.
  TRAINYARD_HD float weight(int input) const {
    const float weight = 1.0F - fabsf(static_cast<float>(input - first) - centre) * inverse;
    return weight > 0.0F ? weight : 0.0F;
  }
};

/// Index = byte of `out`.
struct ResizeView {
  const uint8_t* pixels;  // [height, width, 3]: the whole image
  unsigned width;
  ResizeAxis columns, rows;
  unsigned out_width;
  bool flip;
  uint8_t* out;  // [window's height, out_width, 3]

  static ResizeView of(const uint8_t* pixels, int width, const View& view, uint8_t* out) {
    const ResizeAxis columns{view.from.x, view.from.width, static_cast<double>(view.from.width) / view.width,
                             view.window.x};
    const ResizeAxis rows{view.from.y, view.from.height, static_cast<double>(view.from.height) / view.height,
                          view.window.y};
    return {pixels, static_cast<unsigned>(width), columns, rows, static_cast<unsigned>(view.window.width), view.flip,
            out};
  }

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned pixel = i / 3;
    const unsigned x = pixel % out_width;
    const ResizeTaps across = ResizeTaps::of(columns, static_cast<int>(flip ? out_width - 1 - x : x));
    const ResizeTaps down = ResizeTaps::of(rows, static_cast<int>(pixel / out_width));
    float total = 0;
    for (int k = down.first; k < down.end; ++k) total += down.weight(k);
    float sum = 0;
    float weights = 0;
    for (int column = across.first; column < across.end; ++column) {
      const uint8_t* from =
          pixels + (static_cast<size_t>(down.first) * width + static_cast<size_t>(column)) * 3 + i % 3;
      float mixed = 0;
      for (int row = down.first; row < down.end; ++row, from += static_cast<size_t>(width) * 3) {
        mixed += static_cast<float>(*from) * down.weight(row);
      }
      const float weight = across.weight(column);
      sum += mixed * weight;
      weights += weight;
    }
    out[i] = static_cast<uint8_t>(sum / (weights * total) + 0.5F);
  }
};

}  // namespace trainyard::cuda
