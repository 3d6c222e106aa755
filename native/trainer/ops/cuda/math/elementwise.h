// Input, sums, biases, and the reordering of weights.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// Index = element of y. The operations of torchvision's ToTensor and Normalize in their order.
template <class T>
struct InputNormalise {
  const uint8_t* images;  // [count, pixels, 3]
  T* y;                   // [n, pixels, 3], or [n, 3, pixels] when `planar`
  unsigned present;       // elements of the images that are there; zeros behind them
  unsigned pixels;
  bool planar;
  float mean[3];
  float deviation[3];

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned c = planar ? i / pixels % 3 : i % 3;
    const unsigned from = planar ? (i / pixels / 3 * pixels + i % pixels) * 3 + c : i;
    // Not mean[c]: an array indexed at run time would be copied to each thread's slow memory.
    const float m = c == 0 ? mean[0] : c == 1 ? mean[1] : mean[2];
    const float d = c == 0 ? deviation[0] : c == 1 ? deviation[1] : deviation[2];
    y[i] = static_cast<T>(i < present ? (static_cast<float>(images[from]) / 255.0F - m) / d : 0.0F);
  }
};

/// Index = element.
template <class T>
struct AddTo {
  T* to;
  const T* from;
  TRAINYARD_HD void operator()(unsigned i) const {
    to[i] = static_cast<T>(static_cast<float>(to[i]) + static_cast<float>(from[i]));
  }
};

/// Index = element. Rounded to what it is stored in.
template <class T>
struct Round {
  const float* from;
  T* to;
  TRAINYARD_HD void operator()(unsigned i) const { to[i] = static_cast<T>(from[i]); }
};

/// Index = element. Exact.
template <class T>
struct Widen {
  const T* from;
  float* to;
  TRAINYARD_HD void operator()(unsigned i) const { to[i] = static_cast<float>(from[i]); }
};

/// Index = element of y, [batch, out].
template <class T>
struct AddBias {
  const float* sums;  // [batch, out]; may be y
  T* y;
  const float* bias;  // [out]
  unsigned out;
  bool relu;

  TRAINYARD_HD void operator()(unsigned i) const {
    const float value = sums[i] + bias[i % out];
    y[i] = static_cast<T>(relu && !(value > 0.0F) ? 0.0F : value);
  }
};

/// Index = element. dy where y passed the ReLU.
template <class T>
struct MaskByOutput {
  const T* y;
  T* dy;
  TRAINYARD_HD void operator()(unsigned i) const {
    if (!(static_cast<float>(y[i]) > 0.0F)) dy[i] = T();
  }
};

/// Index = element of `to`, [out, window, in], from [out, in, window]: weights as NHWC convolutions
/// want them.
template <class T>
struct ToChannelsLast {
  const float* from;
  T* to;
  unsigned in, window;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned c = i % in;
    const unsigned k = i / in % window;
    const unsigned o = i / in / window;
    to[i] = static_cast<T>(from[(static_cast<size_t>(o) * in + c) * window + k]);
  }
};

/// Index = element of `to`, [out, in, window], from [out, window, in]: the way back, for the
/// gradient.
template <class T>
struct ToChannelsFirst {
  const T* from;
  float* to;
  unsigned in, window;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned k = i % window;
    const unsigned c = i / window % in;
    const unsigned o = i / window / in;
    to[i] = static_cast<float>(from[(static_cast<size_t>(o) * window + k) * in + c]);
  }
};

/// Index = element of the narrower of two NHWC tensors, whose channels begin at `first` of the
/// wider one's.
template <class T>
struct CopyChannels {
  const T* from;
  T* to;
  unsigned from_channels, to_channels;
  unsigned first;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned narrow = from_channels < to_channels ? from_channels : to_channels;
    const size_t pixel = i / narrow;
    const unsigned c = i % narrow;
    to[pixel * to_channels + (to_channels > narrow ? first : 0) + c] =
        from[pixel * from_channels + (from_channels > narrow ? first : 0) + c];
  }
};

}  // namespace trainyard::cuda
