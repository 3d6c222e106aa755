// Input, sums, biases, and the reordering of weights.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// Index = element of y. The operations of torchvision's ToTensor and Normalize in their order.
struct InputNormalise {
  const uint8_t* images;  // [count, pixels, 3]
  float* y;               // [n, pixels, 3], or [n, 3, pixels] when `planar`
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
    y[i] = i < present ? (static_cast<float>(images[from]) / 255.0F - m) / d : 0.0F;
  }
};

/// Index = element.
struct AddTo {
  float* to;
  const float* from;
  TRAINYARD_HD void operator()(unsigned i) const { to[i] += from[i]; }
};

/// Index = element of y, [batch, out].
struct AddBias {
  float* y;
  const float* bias;  // [out]
  unsigned out;
  bool relu;

  TRAINYARD_HD void operator()(unsigned i) const {
    const float value = y[i] + bias[i % out];
    y[i] = relu && !(value > 0.0F) ? 0.0F : value;
  }
};

/// Index = element. dy where y passed the ReLU.
struct MaskByOutput {
  const float* y;
  float* dy;
  TRAINYARD_HD void operator()(unsigned i) const {
    if (!(y[i] > 0.0F)) dy[i] = 0.0F;
  }
};

/// Index = column. Sums over the rows, in double.
struct ColumnSums {
  const float* from;  // [rows, columns]
  float* to;          // [columns]
  unsigned rows, columns;

  TRAINYARD_HD void operator()(unsigned c) const {
    double sum = 0;
    for (unsigned r = 0; r < rows; ++r) sum += static_cast<double>(from[static_cast<size_t>(r) * columns + c]);
    to[c] = static_cast<float>(sum);
  }
};

/// Index = element of `to`, [out, window, in], from [out, in, window]: weights as NHWC convolutions want them.
struct ToChannelsLast {
  const float* from;
  float* to;
  unsigned in, window;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned c = i % in;
    const unsigned k = i / in % window;
    const unsigned o = i / in / window;
    to[i] = from[(static_cast<size_t>(o) * in + c) * window + k];
  }
};

/// Index = element of `to`, [out, in, window], from [out, window, in]: the way back, for the gradient.
struct ToChannelsFirst {
  const float* from;
  float* to;
  unsigned in, window;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned k = i % window;
    const unsigned c = i / window % in;
    const unsigned o = i / window / in;
    to[i] = from[(static_cast<size_t>(o) * window + k) * in + c];
  }
};

/// Index = element of the narrower of two NHWC tensors, whose channels begin at `first` of the wider one's.
struct CopyChannels {
  const float* from;
  float* to;
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
