// Batch norm backward over [rows, channels]: Ioffe and Szegedy 2015 (arXiv:1502.03167), section 3.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_forward.h"

namespace trainyard::cuda {

/// Where the ReLU let the gradient pass.
enum class Mask {
  none,    ///< no ReLU
  input,   ///< found again from x by normalised(), which saves reading y
  output,  ///< where y is above zero
};

template <class T>
TRAINYARD_HD float masked(float gradient, Mask mask, const T* x, const T* y, size_t i, unsigned c,
                          const NormConstants& k) {
  if (mask == Mask::input) return normalised(static_cast<float>(x[i]), k, c) > 0.0F ? gradient : 0.0F;
  if (mask == Mask::output) return static_cast<float>(y[i]) > 0.0F ? gradient : 0.0F;
  return gradient;
}

/// Index = split * channels + c. g = (dy + more) where the ReLU passed; sums of g and of g * (x -
/// mean).
template <class T>
struct NormGradientSums {
  T* dy;          // [rows, channels]; holds g afterwards when `store`
  const T* more;  // or nullptr
  const T* x;
  const T* y;  // read only with Mask::output
  unsigned rows, channels, splits;
  Mask mask;
  bool store;
  NormConstants constants;
  double* partial;  // [splits, 2, channels]

  TRAINYARD_HD void operator()(unsigned index) const {
    const unsigned split = index / channels;
    const unsigned c = index % channels;
    double sum = 0;
    double products = 0;
    for (unsigned r = split; r < rows; r += splits) {
      const size_t i = static_cast<size_t>(r) * channels + c;
      float g = static_cast<float>(dy[i]);
      if (more != nullptr) g += static_cast<float>(more[i]);
      g = masked(g, mask, x, y, i, c, constants);
      if (store) dy[i] = static_cast<T>(g);
      sum += static_cast<double>(g);
      products += static_cast<double>(g) * static_cast<double>(static_cast<float>(x[i]) - constants.mean[c]);
    }
    partial[static_cast<size_t>(split) * 2 * channels + c] = sum;
    partial[(static_cast<size_t>(split) * 2 + 1) * channels + c] = products;
  }
};

/// Index = channel. The parameters' gradients, of this rank alone.
struct NormParameterGradients {
  const double* totals;  // [2, channels]
  const double* inverse_deviation;
  unsigned channels;
  float* dgamma;
  float* dbeta;

  TRAINYARD_HD void operator()(unsigned c) const {
    dbeta[c] = static_cast<float>(totals[c]);
    dgamma[c] = static_cast<float>(totals[channels + c] * inverse_deviation[c]);
  }
};

/// Index = channel. dx = scale * g + slope * (x - mean) + offset.
struct NormGradientConstants {
  const double* totals;  // [2, channels], over all ranks
  const double* inverse_deviation;
  const double* count;
  const float* gamma;
  unsigned channels;
  float* slope;
  float* offset;

  TRAINYARD_HD void operator()(unsigned c) const {
    const double inverse = inverse_deviation[c];
    const double scale = static_cast<double>(gamma[c]) * inverse;
    slope[c] = static_cast<float>(-scale * (totals[channels + c] * inverse * inverse / *count));
    offset[c] = static_cast<float>(-scale * (totals[c] / *count));
  }
};

/// Index = element. `gradient` is dy, masked here, or what NormGradientSums stored.
template <class T>
struct NormGradient {
  const T* gradient;
  const T* x;
  T* dx;  // may be gradient
  unsigned channels;
  Mask mask;  // none or input
  NormConstants constants;
  const float* slope;
  const float* offset;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned c = i % channels;
    const float g = masked<T>(static_cast<float>(gradient[i]), mask, x, nullptr, i, c, constants);
    const float centred = static_cast<float>(x[i]) - constants.mean[c];
    dx[i] = static_cast<T>(fmaf(centred, slope[c], fmaf(g, constants.scale[c], offset[c])));
  }
};

}  // namespace trainyard::cuda
