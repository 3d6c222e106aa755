// Space to depth: 2x2 neighbouring pixels become one of four times the channels, so that a convolution
// of few channels and stride 2 is one of more channels and stride 1, which fills tensor cores. Zeros
// stand where there are no pixels and no weights, so the sums have the same terms.
#pragma once
#include "trainer/ops/cuda/math/position.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

/// One direction, height or width.
struct FoldedAxis {
  int in;      ///< pixels before
  int out;     ///< pixels of the output
  int kernel;  ///< taps before
  int pad;     ///< before the first pixel, rounded up to an even number
  int shift;   ///< zero taps before the first one, for that rounding: 0 or 1
  int blocks;  ///< pixels after, the zeros around them included
  int taps;    ///< taps after

  static FoldedAxis of(int in, int kernel, int pad, int out) {
    FoldedAxis axis{};
    axis.in = in;
    axis.out = out;
    axis.kernel = kernel;
    axis.pad = (pad + 1) / 2 * 2;
    axis.shift = axis.pad - pad;
    axis.taps = (kernel + axis.shift + 1) / 2;
    axis.blocks = out + axis.taps - 1;
    return axis;
  }
};

/// x [images, height, width, in] and weights [out, kernel height, kernel width, in]. Folded, a pixel has
/// `depth` channels: (row of 2, column of 2, channel), and zeros behind them. The folded x holds beside
/// each pixel those that the taps of a row want, so the convolution's window is one pixel wide:
///   x        [images, height.blocks, out width, width.taps, depth]
///   weights  [out, height.taps, 1, width.taps, depth]
struct FoldedShape {
  FoldedAxis height, width;
  unsigned in, depth, images, out;

  TRAINYARD_HD unsigned taps() const { return static_cast<unsigned>(width.taps); }
  /// Of the folded tensors.
  unsigned channels() const { return taps() * depth; }
  size_t pixels() const {
    return size_t{images} * static_cast<size_t>(height.blocks) * static_cast<size_t>(width.out) * channels();
  }
  size_t weights() const { return size_t{out} * static_cast<size_t>(height.taps) * channels(); }
};

/// Folds weights and x in one launch. Index = 16 bytes of the folded weights, then of x.
template <class T>
struct SpaceToDepth {
  FoldedShape s;
  unsigned first;    // indices of weights: 0 where only x is folded
  const T* weights;  // or nullptr
  const T* x;
  T* weights_to;  // 16-byte aligned, or nullptr
  T* x_to;        // 16-byte aligned

  TRAINYARD_HD void operator()(unsigned i) const {
    if (i < first) {
      const Part part{weights, s.height.kernel, s.width.kernel, s.height.taps, 1, s.height.shift, s.width.shift};
      fold(part, i, weights_to);
    } else {
      const Part part{x, s.height.in, s.width.in, s.height.blocks, s.width.out, s.height.pad, s.width.pad};
      fold(part, i - first, x_to);
    }
  }

 private:
  /// What is folded: [, height, width, in] into [, rows, columns, taps, depth].
  struct Part {
    const T* from;
    int height, width, rows, columns;
    int above, before;  // zeros before the first pixel
  };

  TRAINYARD_HD void fold(const Part& part, unsigned i, T* to) const {
    const unsigned vectors = s.depth / kWide<T>;  // of a pixel and tap
    const unsigned vector = i % vectors;
    const Position at = Position::of(i / vectors, s.taps(), part.rows, part.columns);
    const int top = 2 * at.h - part.above;
    const int in = static_cast<int>(s.in);
    const int left = (2 * (at.w + static_cast<int>(at.c)) - part.before) * in;
    const int width = part.width * in;
    const T* rows = part.from + size_t{at.n} * static_cast<unsigned>(part.height * width);
    Wide<T> wide;
    TRAINYARD_UNROLL
    for (unsigned w = 0; w < kWide<T> / 2; ++w) {
      const int pair = static_cast<int>(vector * (kWide<T> / 2) + w);  // of channels of the pixel
      const int down = pair >= in ? 1 : 0;
      const int y = top + down;
      const int across = left + 2 * (pair - down * in);
      wide.words[w] = 0;
      if (pair < 2 * in && y >= 0 && y < part.height) wide.words[w] = two(rows + y * width, across, width);
    }
    store_wide(to + size_t{i} * kWide<T>, wide);
  }

  /// Neighbouring numbers of a row, zeros where there are none.
  TRAINYARD_HD static uint32_t two(const T* row, int at, int width) {
    if (at >= 0 && at + 1 < width && reinterpret_cast<uintptr_t>(row + at) % 4 == 0) {
      return *reinterpret_cast<const uint32_t*>(row + at);
    }
    const uint32_t low = at >= 0 && at < width ? row[at].bits : 0;
    const uint32_t high = at + 1 >= 0 && at + 1 < width ? row[at + 1].bits : 0;
    return low | high << 16U;
  }
};

/// The gradient of folded weights, [out, taps, taps, channels], as that of the weights. Index = element
/// of [out, kernel height, kernel width, in].
template <class T>
struct DepthToSpace {
  FoldedShape s;
  const T* folded;
  T* to;

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position at = Position::of(i, s.in, s.height.kernel, s.width.kernel);
    const auto row = static_cast<unsigned>(at.h + s.height.shift);
    const auto column = static_cast<unsigned>(at.w + s.width.shift);
    const size_t tap = (size_t{at.n} * static_cast<unsigned>(s.height.taps) + row / 2) * s.taps() + column / 2;
    to[i] = folded[tap * s.depth + (row % 2 * 2 + column % 2) * s.in + at.c];
  }
};

}  // namespace trainyard::cuda
