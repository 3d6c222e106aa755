// Pooling over NHWC. Backward passes gather, so that every run adds in the same order.
#pragma once
#include "trainer/ops/cuda/math/position.h"

namespace trainyard::cuda {

struct PoolShape {
  unsigned channels;
  int in_h, in_w, out_h, out_w;
  int kernel, stride, pad;
};

TRAINYARD_HD size_t element(const Position& p, unsigned channels, int height, int width, int h, int w) {
  return ((static_cast<size_t>(p.n) * static_cast<size_t>(height) + static_cast<size_t>(h)) *
              static_cast<size_t>(width) +
          static_cast<size_t>(w)) *
             channels +
         p.c;
}

/// Index = element of y. The first of the largest wins; its place in the window goes to `winner`.
template <class T>
struct MaxPool {
  PoolShape s;
  const T* x;
  T* y;
  uint8_t* winner;  // or nullptr

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position out = Position::of(i, s.channels, s.out_h, s.out_w);
    float best = 0;
    int place = -1;
    for (int kh = 0; kh < s.kernel; ++kh) {
      const int h = out.h * s.stride - s.pad + kh;
      if (h < 0 || h >= s.in_h) continue;
      for (int kw = 0; kw < s.kernel; ++kw) {
        const int w = out.w * s.stride - s.pad + kw;
        if (w < 0 || w >= s.in_w) continue;
        const float value = static_cast<float>(x[element(out, s.channels, s.in_h, s.in_w, h, w)]);
        if (place >= 0 && !(value > best)) continue;
        best = value;
        place = kh * s.kernel + kw;
      }
    }
    y[i] = static_cast<T>(best);
    if (winner != nullptr) winner[i] = static_cast<uint8_t>(place);
  }
};

/// Index = element of dx: the sum of dy over the windows that this element won, in row order.
template <class T>
struct MaxPoolGradient {
  PoolShape s;
  const T* dy;
  const uint8_t* winner;
  T* dx;

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position in = Position::of(i, s.channels, s.in_h, s.in_w);
    float sum = 0;
    // Windows that hold row h start at most at h + pad and at least kernel - 1 rows before.
    const int first_h = (in.h + s.pad - s.kernel + s.stride) / s.stride;
    const int first_w = (in.w + s.pad - s.kernel + s.stride) / s.stride;
    for (int h = first_h > 0 ? first_h : 0; h < s.out_h && h * s.stride <= in.h + s.pad; ++h) {
      const int kh = in.h + s.pad - h * s.stride;
      for (int w = first_w > 0 ? first_w : 0; w < s.out_w && w * s.stride <= in.w + s.pad; ++w) {
        const int kw = in.w + s.pad - w * s.stride;
        const size_t from = element(in, s.channels, s.out_h, s.out_w, h, w);
        if (winner[from] == kh * s.kernel + kw) sum += static_cast<float>(dy[from]);
      }
    }
    dx[i] = static_cast<T>(sum);
  }
};

/// Index = element of y: the sum of the window over its whole area, as if zeros stood around x.
template <class T>
struct AvgPool {
  PoolShape s;
  const T* x;
  T* y;

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position out = Position::of(i, s.channels, s.out_h, s.out_w);
    float sum = 0;
    for (int kh = 0; kh < s.kernel; ++kh) {
      const int h = out.h * s.stride - s.pad + kh;
      if (h < 0 || h >= s.in_h) continue;
      for (int kw = 0; kw < s.kernel; ++kw) {
        const int w = out.w * s.stride - s.pad + kw;
        if (w >= 0 && w < s.in_w) sum += static_cast<float>(x[element(out, s.channels, s.in_h, s.in_w, h, w)]);
      }
    }
    y[i] = static_cast<T>(sum / static_cast<float>(s.kernel * s.kernel));
  }
};

/// Index = element of dx: its share of every window that holds it, in row order.
template <class T>
struct AvgPoolGradient {
  PoolShape s;
  const T* dy;
  T* dx;

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position in = Position::of(i, s.channels, s.in_h, s.in_w);
    float sum = 0;
    const int first_h = (in.h + s.pad - s.kernel + s.stride) / s.stride;
    const int first_w = (in.w + s.pad - s.kernel + s.stride) / s.stride;
    for (int h = first_h > 0 ? first_h : 0; h < s.out_h && h * s.stride <= in.h + s.pad; ++h) {
      for (int w = first_w > 0 ? first_w : 0; w < s.out_w && w * s.stride <= in.w + s.pad; ++w) {
        sum += static_cast<float>(dy[element(in, s.channels, s.out_h, s.out_w, h, w)]);
      }
    }
    dx[i] = static_cast<T>(sum / static_cast<float>(s.kernel * s.kernel));
  }
};

/// Index = n * channels + c.
template <class T>
struct GlobalAverage {
  const T* x;  // [n, pixels, channels]
  T* y;        // [n, channels]
  unsigned pixels, channels;

  TRAINYARD_HD void operator()(unsigned index) const {
    const T* from = x + static_cast<size_t>(index / channels) * pixels * channels + index % channels;
    double sum = 0;
    for (unsigned p = 0; p < pixels; ++p) sum += static_cast<float>(from[static_cast<size_t>(p) * channels]);
    y[index] = static_cast<T>(static_cast<float>(sum / static_cast<double>(pixels)));
  }
};

/// Index = element of dx.
template <class T>
struct GlobalAverageGradient {
  const T* dy;  // [n, channels]
  T* dx;        // [n, pixels, channels]
  unsigned pixels, channels;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned c = i % channels;
    const unsigned n = i / channels / pixels;
    const float whole = static_cast<float>(dy[static_cast<size_t>(n) * channels + c]);
    dx[i] = static_cast<T>(whole / static_cast<float>(pixels));
  }
};

/// Index = element of y: every stride-th pixel of x, zeros in the channels that x lacks.
template <class T>
struct Shortcut {
  const T* x;
  T* y;
  unsigned in_channels, out_channels;
  int in_h, in_w, out_h, out_w, stride;

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position out = Position::of(i, out_channels, out_h, out_w);
    if (out.c >= in_channels) {
      y[i] = T();
      return;
    }
    y[i] = x[element(out, in_channels, in_h, in_w, out.h * stride, out.w * stride)];
  }
};

/// Index = element of dx.
template <class T>
struct ShortcutGradient {
  const T* dy;
  T* dx;
  unsigned in_channels, out_channels;
  int in_h, in_w, out_h, out_w, stride;

  TRAINYARD_HD void operator()(unsigned i) const {
    const Position in = Position::of(i, in_channels, in_h, in_w);
    const bool picked = in.h % stride == 0 && in.w % stride == 0;
    dx[i] =
        picked && in.c < out_channels ? dy[element(in, out_channels, out_h, out_w, in.h / stride, in.w / stride)] : T();
  }
};

}  // namespace trainyard::cuda
