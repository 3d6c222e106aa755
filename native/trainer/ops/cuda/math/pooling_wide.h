// Pooling over NHWC, 16 bytes of neighbouring channels at once: the bits of pooling.h, but for the
// global mean, whose sums are of short runs in fp32. channels: a multiple of kWide.
#pragma once
#include "trainer/ops/cuda/math/pooling.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

/// The winners of a Wide of windows.
template <class T>
struct alignas(kWide<T>) WideBytes {
  uint8_t at[kWide<T>];
};

/// Where one Wide of NHWC lies; c is its first channel.
template <class T>
TRAINYARD_HD Position wide_position(unsigned i, unsigned channels, int height, int width) {
  Position p = Position::of(i, channels / kWide<T>, height, width);
  p.c *= kWide<T>;
  return p;
}

/// Index = Wide of y. kKernel: the window's size where the compiler is to know it, else 0.
template <class T, int kKernel>
struct MaxPoolWide {
  PoolShape s;
  const T* x;
  T* y;
  uint8_t* winner;  // or nullptr

  TRAINYARD_HD void operator()(unsigned i) const {
    const int kernel = kKernel > 0 ? kKernel : s.kernel;
    const Position out = wide_position<T>(i, s.channels, s.out_h, s.out_w);
    float best[kWide<T>];
    unsigned place[kWide<T>];
    bool first = true;
    TRAINYARD_UNROLL
    for (int kh = 0; kh < kernel; ++kh) {
      const int h = out.h * s.stride - s.pad + kh;
      if (h < 0 || h >= s.in_h) continue;
      TRAINYARD_UNROLL
      for (int kw = 0; kw < kernel; ++kw) {
        const int w = out.w * s.stride - s.pad + kw;
        if (w < 0 || w >= s.in_w) continue;
        const Wide<T> values = load_wide(x + element(out, s.channels, s.in_h, s.in_w, h, w));
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          const float value = values[v];
          const bool wins = first || value > best[v];
          best[v] = wins ? value : best[v];
          place[v] = wins ? static_cast<unsigned>(kh * kernel + kw) : place[v];
        }
        first = false;
      }
    }
    WideBytes<T> places;
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) places.at[v] = static_cast<uint8_t>(place[v]);
    store_wide(y + size_t{i} * kWide<T>, Wide<T>::of(best));
    if (winner != nullptr) *reinterpret_cast<WideBytes<T>*>(winner + size_t{i} * kWide<T>) = places;
  }
};

/// Adds dy of the windows that the Wide of elements at `in` won, in row order. kKernel, kStride:
/// the window where the compiler is to know it, else 0.
template <class T, int kKernel, int kStride>
TRAINYARD_HD void gather_gradient(const PoolShape& s, const T* dy, const uint8_t* winner, const Position& in,
                                  float (&sum)[kWide<T>]) {
  const int kernel = kKernel > 0 ? kKernel : s.kernel;
  const int stride = kStride > 0 ? kStride : s.stride;
  // Windows that hold row h start at most at h + pad and at least kernel - 1 rows before.
  const int first_h = (in.h + s.pad - kernel + stride) / stride;
  const int first_w = (in.w + s.pad - kernel + stride) / stride;
  const int most = (kernel + stride - 1) / stride;
  TRAINYARD_UNROLL
  for (int a = 0; a < most; ++a) {
    const int h = first_h + a;
    if (h < 0 || h >= s.out_h || h * stride > in.h + s.pad) continue;
    TRAINYARD_UNROLL
    for (int b = 0; b < most; ++b) {
      const int w = first_w + b;
      if (w < 0 || w >= s.out_w || w * stride > in.w + s.pad) continue;
      const auto place = static_cast<unsigned>((in.h + s.pad - h * stride) * kernel + in.w + s.pad - w * stride);
      const size_t from = element(in, s.channels, s.out_h, s.out_w, h, w);
      const auto winners = *reinterpret_cast<const WideBytes<T>*>(winner + from);
      const Wide<T> gradients = load_wide(dy + from);
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) {
        if (winners.at[v] == place) sum[v] += gradients[v];
      }
    }
  }
}

/// Index = Wide of dx. kKernel, kStride: as above.
template <class T, int kKernel, int kStride>
struct MaxPoolGradientWide {
  PoolShape s;
  const T* dy;
  const uint8_t* winner;
  T* dx;

  TRAINYARD_HD void operator()(unsigned i) const {
    float sum[kWide<T>] = {};
    gather_gradient<T, kKernel, kStride>(s, dy, winner, wide_position<T>(i, s.channels, s.in_h, s.in_w), sum);
    store_wide(dx + size_t{i} * kWide<T>, Wide<T>::of(sum));
  }
};

/// Index = Wide of y, [n, channels].
template <class T>
struct GlobalAverageWide {
  const T* x;  // [n, pixels, channels]
  T* y;        // [n, channels]
  unsigned pixels, channels;

  TRAINYARD_HD void operator()(unsigned index) const {
    constexpr unsigned kRun = 8;  // pixels whose loads are under way together, and whose sum is in fp32
    const unsigned vectors = channels / kWide<T>;
    const T* from = x + size_t{index / vectors} * pixels * channels + size_t{index % vectors} * kWide<T>;
    double sum[kWide<T>] = {};
    for (unsigned p = 0; p < pixels; p += kRun) {
      Wide<T> values[kRun];
      float run[kWide<T>] = {};
      TRAINYARD_UNROLL
      for (unsigned r = 0; r < kRun; ++r) {
        if (p + r < pixels) values[r] = load_wide(from + size_t{p + r} * channels);
      }
      TRAINYARD_UNROLL
      for (unsigned r = 0; r < kRun; ++r) {
        if (p + r >= pixels) continue;
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) run[v] += values[r][v];
      }
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) sum[v] += static_cast<double>(run[v]);
    }
    float mean[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) mean[v] = static_cast<float>(sum[v] / static_cast<double>(pixels));
    store_wide(y + size_t{index} * kWide<T>, Wide<T>::of(mean));
  }
};

/// Index = Wide of dx.
template <class T>
struct GlobalAverageGradientWide {
  const T* dy;  // [n, channels]
  T* dx;        // [n, pixels, channels]
  unsigned pixels, channels;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned vectors = channels / kWide<T>;
    const unsigned n = i / vectors / pixels;
    const Wide<T> whole = load_wide(dy + size_t{n} * channels + size_t{i % vectors} * kWide<T>);
    float share[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) share[v] = whole[v] / static_cast<float>(pixels);
    store_wide(dx + size_t{i} * kWide<T>, Wide<T>::of(share));
  }
};

}  // namespace trainyard::cuda
