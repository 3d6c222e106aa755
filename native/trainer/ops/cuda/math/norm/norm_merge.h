// A batch norm's gradient merged into the convolution before it (MergedNorm): small matrices alone,
// [out, in] and smaller.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_backward_blocks.h"

namespace trainyard::cuda {

/// Index = result, column. What the steps of multiply_pixels() add up to.
struct PixelsTotal {
  const float* partial;  // [steps, results, in]
  float* products;       // [results, in]
  unsigned steps;
  unsigned numbers;  // results * in

  TRAINYARD_HD void operator()(unsigned index) const {
    constexpr unsigned kFew = 16;
    const float* from = partial + index;
    double sum = 0;
    by_halves<kFew>(steps, [&]<unsigned n>(Count<n>) {
      float few[n];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) few[i] = from[size_t{i} * numbers];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) sum += few[i];
      from += size_t{n} * numbers;
    });
    products[index] = static_cast<float>(sum);
  }
};

/// Sums of g (y - mean), y = x weights^T, from g^T x.
template <class T>
struct MergedProducts {
  const float* products;  // [channels, inner] g^T x, 16-byte aligned as the next
  const T* weights;       // [channels, inner]
  const float* mean;      // [channels]
  unsigned inner;         // a multiple of kWide

  /// sum: of the channel's g.
  TRAINYARD_HD double of(unsigned c, double sum) const {
    double of_y = 0;
    TRAINYARD_KEEP_LOOP
    for (unsigned k = 0; k < inner; k += kWide<T>) {
      const Wide<T> w = load_wide(weights + size_t{c} * inner + k);
      const float* from = products + size_t{c} * inner + k;
      float p[kWide<T>];
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) p[v] = from[v];
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) of_y += static_cast<double>(p[v]) * static_cast<double>(w[v]);
    }
    return of_y - static_cast<double>(mean[c]) * sum;
  }
};

/// The end of sums of g alone.
template <class T>
struct MergedNormEnd {
  static constexpr unsigned kSums = 1;
  MergedProducts<T> merged;
  NormGradientTotals<1> totals;

  TRAINYARD_HD void operator()(unsigned c, const double (&sums)[1]) const {
    const double both[2] = {sums[0], merged.of(c, sums[0])};
    totals(c, both);
  }
};

/// The same of a block with projection, of whose input the sums have products.
template <class T>
struct MergedPairEnd {
  static constexpr unsigned kSums = 2;
  MergedProducts<T> merged;
  NormGradientTotals<1> branch;
  NormGradientTotals<1> projection;

  TRAINYARD_HD void operator()(unsigned c, const double (&sums)[2]) const {
    const double of_branch[2] = {sums[0], merged.of(c, sums[0])};
    branch(c, of_branch);
    projection(c, sums);
  }
};

/// MergedNorm's factors of dx, and dw. A block has one channel of the input, `j`.
template <class T>
struct MergeNormBlock {
  static constexpr int kPhases = 3;
  static constexpr unsigned kResident = 1;
  static constexpr unsigned kMostIn = 128;
  struct Shared {
    float by_x[kMostIn];        // x^T x of j
    float sums[kBlockThreads];  // of w^T slope w, [sharers, in]
    double of_bias[kBlockThreads];
  };
  struct Thread {};

  const T* weights;       // [out, in], 16-byte aligned
  const float* products;  // [out + in + 1, in]: g^T x, x^T x, the sum of x
  const float* mean;      // [out], as the next
  const float* scale;
  const float* slope;
  const float* offset;
  unsigned out, in;  // in: divides kBlockThreads, kMostIn at most
  T* merged;         // [in, out + in]: scale w, then w^T slope w
  float* bias;       // [in]: w^T (offset - slope mean)
  float* dw;         // [out, in]

  static constexpr bool takes(unsigned in) {
    return in <= kMostIn && kBlockThreads % in == 0 && in % (4 * kWide<T>) == 0;
  }
  unsigned blocks() const { return in; }

  template <int phase>
  TRAINYARD_HD void run(unsigned j, unsigned thread, Thread&, Shared& shared) const {
    if constexpr (phase == 0) {
      if (thread < in) shared.by_x[thread] = of_x()[size_t{thread} * in + j];
      shared.sums[thread] = of_inputs(j, thread % in, thread / in);
      shared.of_bias[thread] = of_bias(j, thread);
    } else if constexpr (phase == 1) {
      if (thread < in) merged[size_t{j} * (out + in) + out + thread] = T(sum_of_sharers(shared, thread));
      if (thread < kFew) add_few(shared, thread);
      const float x_sum = of_x()[size_t{in} * in + j];
      for (unsigned c = thread; c < out; c += kBlockThreads) {
        merged[size_t{j} * (out + in) + c] = T(scale[c] * weight(c, j));
        dw[size_t{c} * in + j] = gradient(shared, c, j, x_sum);
      }
    } else if (thread == 0) {
      double sum = 0;
      for (unsigned i = 0; i < kFew; ++i) sum += shared.of_bias[i * (kBlockThreads / kFew)];
      bias[j] = static_cast<float>(sum);
    }
  }

 private:
  static constexpr unsigned kFew = 16;

  TRAINYARD_HD float weight(unsigned c, unsigned k) const { return static_cast<float>(weights[size_t{c} * in + k]); }
  TRAINYARD_HD const float* of_x() const { return products + size_t{out} * in; }

  /// Of every sharers-th channel, from `first` on.
  TRAINYARD_HD float of_inputs(unsigned j, unsigned k, unsigned first) const {
    const unsigned sharers = kBlockThreads / in;
    const unsigned left = first < out ? (out - first - 1) / sharers + 1 : 0;
    unsigned c = first;
    float sum = 0;
    by_halves<kFew>(left, [&]<unsigned n>(Count<n>) {
      float by_j[n], by_k[n], slopes[n];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        by_j[i] = weight(c + i * sharers, j);
        by_k[i] = weight(c + i * sharers, k);
        slopes[i] = slope[c + i * sharers];
      }
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) sum = fmaf(by_j[i] * slopes[i], by_k[i], sum);
      c += n * sharers;
    });
    return sum;
  }
  TRAINYARD_HD float sum_of_sharers(const Shared& shared, unsigned k) const {
    float sum = 0;
    for (unsigned at = k; at < kBlockThreads; at += in) sum += shared.sums[at];
    return sum;
  }

  TRAINYARD_HD double of_bias(unsigned j, unsigned first) const {
    double sum = 0;
    for (unsigned c = first; c < out; c += kBlockThreads) {
      sum += static_cast<double>(weight(c, j)) *
             (static_cast<double>(offset[c]) - static_cast<double>(slope[c]) * static_cast<double>(mean[c]));
    }
    return sum;
  }
  /// A part of bias, into its first number.
  TRAINYARD_HD void add_few(Shared& shared, unsigned part) const {
    constexpr unsigned kEach = kBlockThreads / kFew;
    double sum = 0;
    for (unsigned i = 0; i < kEach; ++i) sum += shared.of_bias[part * kEach + i];
    shared.of_bias[part * kEach] = sum;
  }

  TRAINYARD_HD float gradient(const Shared& shared, unsigned c, unsigned j, float x_sum) const {
    double sum = -static_cast<double>(mean[c]) * static_cast<double>(x_sum);
    TRAINYARD_KEEP_LOOP
    for (unsigned k = 0; k < in; k += 4 * kWide<T>) {
      Wide<T> w[4];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < 4; ++i) w[i] = load_wide(weights + size_t{c} * in + k + i * kWide<T>);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          sum += static_cast<double>(w[i][v]) * static_cast<double>(shared.by_x[k + i * kWide<T> + v]);
        }
      }
    }
    return static_cast<float>(static_cast<double>(scale[c]) * static_cast<double>(products[size_t{c} * in + j]) +
                              static_cast<double>(slope[c]) * sum +
                              static_cast<double>(offset[c]) * static_cast<double>(x_sum));
  }
};

}  // namespace trainyard::cuda
