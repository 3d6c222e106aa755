// A batch norm with ReLU whose output is pooled, by blocks: what it normalises is never written.
// Max pooling by windows of 3x3 pixels, 2 apart.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_forward_blocks.h"
#include "trainer/ops/cuda/math/pooling_wide.h"

namespace trainyard::cuda {

inline constexpr int kNormPoolKernel = 3;
inline constexpr int kNormPoolStride = 2;

/// Where a row of [rows, channels] lies in NHWC; c is `channel`.
TRAINYARD_HD Position row_position(unsigned row, unsigned channel, int height, int width) {
  Position p = Position::of(row, 1, height, width);
  p.c = channel;
  return p;
}

/// y = the largest of relu(normalised(x)) in each window. With kNote also the x that won, from
/// which backward makes the sums, and its place: the first of the largest.
template <class T, bool kNote>
struct NormPoolBlock {
  static constexpr int kPhases = 1;
  static constexpr unsigned kResident = 2;
  struct Shared {};
  struct Thread {};

  NormTiles tiles;  // of y
  PoolShape s;
  const T* x;       // [n, in_h, in_w, channels]
  T* y;             // [n, out_h, out_w, channels]
  T* largest;       // as y: the x that won
  uint8_t* winner;  // as y: its place in the window
  NormConstants constants;

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared&) const {
    const auto share = NormShare<T>::of(tiles, block, thread);
    if (!share.active) return;
    const NormConstantsOf<kWide<T>> k(constants, share.channel);
    share.template each_row<1>(tiles, [&]<unsigned n>(Count<n>, unsigned row) { pool(k, row, share.channel); });
  }

 private:
  TRAINYARD_HD void pool(const NormConstantsOf<kWide<T>>& k, unsigned row, unsigned channel) const {
    constexpr int kPixels = kNormPoolKernel * kNormPoolKernel;
    const Position out = row_position(row, channel, s.out_h, s.out_w);
    Wide<T> in[kPixels];
    bool inside[kPixels];
    TRAINYARD_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      const int h = out.h * kNormPoolStride - s.pad + i / kNormPoolKernel;
      const int w = out.w * kNormPoolStride - s.pad + i % kNormPoolKernel;
      inside[i] = h >= 0 && h < s.in_h && w >= 0 && w < s.in_w;
      if (inside[i]) in[i] = load_wide(x + element(out, s.channels, s.in_h, s.in_w, h, w));
    }
    float best[kWide<T>];
    [[maybe_unused]] float won[kWide<T>];
    [[maybe_unused]] unsigned place[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      best[v] = -1;  // below whatever the ReLU lets pass
      won[v] = 0;
      place[v] = 0;
    }
    TRAINYARD_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      if (!inside[i]) continue;
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) {
        const float value = in[i][v];
        const float above = fmaxf(k.normalised(value, v), 0.0F);
        const bool wins = above > best[v];
        best[v] = wins ? above : best[v];
        if constexpr (kNote) {
          won[v] = wins ? value : won[v];
          place[v] = wins ? static_cast<unsigned>(i) : place[v];
        }
      }
    }
    const size_t at = size_t{row} * s.channels + channel;
    store_wide(y + at, Wide<T>::of(best));
    if constexpr (kNote) {
      WideBytes<T> places;
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) places.at[v] = static_cast<uint8_t>(place[v]);
      store_wide(largest + at, Wide<T>::of(won));
      *reinterpret_cast<WideBytes<T>*>(winner + at) = places;
    }
  }
};

/// dx = scale * g + slope * (x - mean) + offset, where g is the sum of dy over the windows that x
/// won, in row order, where the ReLU passed. A thread takes squares of 2x2 pixels, which lie in no
/// more than 2x2 windows: the first row of a square lies in the middle of the first window.
template <class T>
struct NormPoolGradientBlock {
  static constexpr int kPhases = 1;
  static constexpr unsigned kResident = 2;
  struct Shared {};
  struct Thread {};

  NormTiles tiles;  // of the squares
  PoolShape s;
  const T* dy;            // [n, out_h, out_w, channels]
  const uint8_t* winner;  // as dy
  const T* x;             // [n, in_h, in_w, channels]
  T* dx;                  // as x
  NormConstants constants;
  const float* slope;   // [channels]
  const float* offset;  // [channels]

  /// Squares in one direction, of so many pixels. pad: 0 or 1.
  TRAINYARD_HD static int squares(int pixels, int pad) { return (pixels + pad) / 2 - pad + 1; }

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared&) const {
    const auto share = NormShare<T>::of(tiles, block, thread);
    if (!share.active) return;
    const NormConstantsOf<kWide<T>> k(constants, share.channel);
    float a[kWide<T>];
    float b[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      a[v] = slope[share.channel + v];
      b[v] = offset[share.channel + v];
    }
    share.template each_row<1>(tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const Position square = row_position(row, share.channel, squares(s.in_h, s.pad), squares(s.in_w, s.pad));
      const Window windows[4] = {window(square, 0), window(square, 1), window(square, 2), window(square, 3)};
      TRAINYARD_UNROLL
      for (int first = 0; first < 4; first += 2) {  // four at once would not fit the registers
        const Pixel pixels[2] = {pixel(square, first), pixel(square, first + 1)};
        TRAINYARD_UNROLL
        for (int i = 0; i < 2; ++i) {
          if (!pixels[i].inside) continue;
          float out[kWide<T>];
          TRAINYARD_UNROLL
          for (unsigned v = 0; v < kWide<T>; ++v) {
            const float value = pixels[i].x[v];
            const float g = k.normalised(value, v) > 0.0F ? won_by(windows, first + i, v) : 0.0F;
            out[v] = fmaf(value - k.mean[v], a[v], fmaf(g, k.scale[v], b[v]));
          }
          store_wide(dx + pixels[i].at, Wide<T>::of(out));
        }
      }
    });
  }

 private:
  struct Window {
    WideBytes<T> winners;
    Wide<T> gradients;
  };
  struct Pixel {
    bool inside;
    size_t at;
    Wide<T> x;
  };

  /// The i-th window of a square, in row order; one that nothing won where there is none.
  TRAINYARD_HD Window window(const Position& square, int i) const {
    const int h = square.h + s.pad - 1 + i / 2;
    const int w = square.w + s.pad - 1 + i % 2;
    Window made{};
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) made.winners.at[v] = 0xFF;
    if (h < 0 || h >= s.out_h || w < 0 || w >= s.out_w) return made;
    const size_t from = element(square, s.channels, s.out_h, s.out_w, h, w);
    made.winners = *reinterpret_cast<const WideBytes<T>*>(winner + from);
    made.gradients = load_wide(dy + from);
    return made;
  }

  /// The i-th pixel of a square, in row order.
  TRAINYARD_HD Pixel pixel(const Position& square, int i) const {
    const int h = 2 * square.h + s.pad - 1 + i / 2;
    const int w = 2 * square.w + s.pad - 1 + i % 2;
    Pixel made{};
    made.inside = h >= 0 && h < s.in_h && w >= 0 && w < s.in_w;
    if (!made.inside) return made;
    made.at = element(square, s.channels, s.in_h, s.in_w, h, w);
    made.x = load_wide(x + made.at);
    return made;
  }

  /// The sum of the gradients of the windows that the i-th pixel won.
  TRAINYARD_HD static float won_by(const Window (&windows)[4], int i, unsigned v) {
    float sum = 0;
    TRAINYARD_UNROLL
    for (int of = 0; of < 4; ++of) {
      const int down = 1 + i / 2 - of / 2 * kNormPoolStride;
      const int across = 1 + i % 2 - of % 2 * kNormPoolStride;
      if (down < 0 || across < 0) continue;
      const auto place = static_cast<unsigned>(down * kNormPoolKernel + across);
      if (windows[of].winners.at[v] == place) sum += windows[of].gradients[v];
    }
    return sum;
  }
};

}  // namespace trainyard::cuda
