// Batch norm forward over [rows, channels] (NHWC: a row is a pixel of an image). Sums are in
// double, where the product of two fp32 numbers is exact, and their order depends on the shape
// alone.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// Per channel numbers that normalise: y = (x - mean) * scale + beta.
struct NormConstants {
  float* mean;   // [channels]
  float* scale;  // [channels] gamma / sqrt(var + eps)
  float* beta;   // [channels]
};

TRAINYARD_HD float normalised(float x, const NormConstants& k, unsigned c) {
  return fmaf(x - k.mean[c], k.scale[c], k.beta[c]);
}

/// The constants of n neighbouring channels, in registers.
template <unsigned n>
struct NormConstantsOf {
  float mean[n], scale[n], beta[n];

  TRAINYARD_HD NormConstantsOf(const NormConstants& k, unsigned first) {
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < n; ++v) {
      mean[v] = k.mean[first + v];
      scale[v] = k.scale[first + v];
      beta[v] = k.beta[first + v];
    }
  }
  /// The bits of normalised() above.
  TRAINYARD_HD float normalised(float x, unsigned v) const { return fmaf(x - mean[v], scale[v], beta[v]); }
};

/// Index = split * channels + c. Sums of x and of x squared over every splits-th row.
template <class T>
struct NormSums {
  const T* x;  // [rows, channels]
  unsigned rows, channels, splits;
  double* partial;  // [splits, 2, channels]

  TRAINYARD_HD void operator()(unsigned index) const {
    const unsigned split = index / channels;
    const unsigned c = index % channels;
    double sum = 0;
    double squares = 0;
    for (unsigned r = split; r < rows; r += splits) {
      const double value = static_cast<float>(x[static_cast<size_t>(r) * channels + c]);
      sum += value;
      squares += value * value;
    }
    partial[static_cast<size_t>(split) * 2 * channels + c] = sum;
    partial[(static_cast<size_t>(split) * 2 + 1) * channels + c] = squares;
  }
};

/// Index = group * width + column. Folds [count, width] to [groups, width].
struct FoldRows {
  const double* from;
  double* to;
  unsigned count, groups, width;

  TRAINYARD_HD void operator()(unsigned index) const {
    const unsigned group = index / width;
    const unsigned column = index % width;
    double sum = 0;
    for (unsigned r = group; r < count; r += groups) sum += from[static_cast<size_t>(r) * width + column];
    to[index] = sum;
  }
};

/// One number, so that a count can join the sums over the ranks.
struct SetNumber {
  double* to;
  double value;
  TRAINYARD_HD void operator()(unsigned) const { *to = value; }
};

/// Index = channel. From the totals of sums, squares and the count behind them: what backward
/// needs, the constants, and the running statistics (whose variance takes the unbiased one).
struct NormStatistics {
  const double* totals;  // [2, channels], then the count
  unsigned channels;
  double eps, momentum;
  const float* gamma;
  const float* beta;
  float* running_mean;
  float* running_var;
  double* saved_count;
  double* inverse_deviation;  // [channels]
  NormConstants constants;

  TRAINYARD_HD static float moved(float running, double now, double momentum) {
    return static_cast<float>((1.0 - momentum) * static_cast<double>(running) + momentum * now);
  }

  TRAINYARD_HD void operator()(unsigned c) const {
    const double count = totals[2 * static_cast<size_t>(channels)];
    const double mean = totals[c] / count;
    set(c, mean, totals[channels + c] / count - mean * mean, count);
  }

  /// raw: the biased variance, which rounding may have made negative.
  TRAINYARD_HD void set(unsigned c, double mean, double raw, double count) const {
    const double variance = raw < 0.0 ? 0.0 : raw;  // NaN stays NaN
    inverse_deviation[c] = 1.0 / sqrt(variance + eps);
    constants.mean[c] = static_cast<float>(mean);
    constants.scale[c] = static_cast<float>(static_cast<double>(gamma[c]) * inverse_deviation[c]);
    constants.beta[c] = beta[c];
    const double unbiased = variance * count / (count - 1 > 1.0 ? count - 1 : 1.0);
    running_mean[c] = moved(running_mean[c], mean, momentum);
    running_var[c] = moved(running_var[c], unbiased, momentum);
    if (c == 0) *saved_count = count;
  }
};

/// Index = channel. The constants of inference.
struct NormRunning {
  double eps;
  const float* gamma;
  const float* beta;
  const float* running_mean;
  const float* running_var;
  NormConstants constants;

  TRAINYARD_HD void operator()(unsigned c) const {
    constants.mean[c] = running_mean[c];
    const double deviation = sqrt(static_cast<double>(running_var[c]) + eps);
    constants.scale[c] = static_cast<float>(static_cast<double>(gamma[c]) / deviation);
    constants.beta[c] = beta[c];
  }
};

/// Index = element. y = relu(normalised(x) + residual).
template <class T>
struct NormApply {
  const T* x;
  const T* residual;  // or nullptr
  T* y;               // may be x
  unsigned channels;
  bool relu;
  NormConstants constants;

  TRAINYARD_HD void operator()(unsigned i) const {
    float value = normalised(static_cast<float>(x[i]), constants, i % channels);
    if (residual != nullptr) value += static_cast<float>(residual[i]);
    y[i] = static_cast<T>(relu && !(value > 0.0F) ? 0.0F : value);
  }
};

}  // namespace trainyard::cuda
