// A batch norm's gradient merged into the convolution before it (MergedNorm): small matrices alone,
// [out, in] and smaller.
#pragma once
#include "trainer/ops/cuda/math/norm_backward_blocks.h"

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

/// MergedNorm's factors of dx and dw. Index: first a number of `weights`, then of `bias`, then of dw.
template <class T>
struct MergeNorm {
  const T* weights;       // [out, in]
  const float* products;  // [out + in + 1, in]: g^T x, x^T x, the sum of x
  const float* mean;      // [out], as the next
  const float* scale;
  const float* slope;
  const float* offset;
  unsigned out, in;
  T* merged;    // [in, out + in]: scale w, then w^T slope w
  float* bias;  // [in]: w^T (offset - slope mean)
  float* dw;    // [out, in]

  size_t count() const { return size_t{in} * (out + in) + in + size_t{out} * in; }

  TRAINYARD_HD void operator()(unsigned index) const {
    const unsigned factors = in * (out + in);
    if (index < factors) {
      const unsigned j = index / (out + in);
      const unsigned k = index % (out + in);
      merged[index] = T(k < out ? scale[k] * weight(k, j) : of_inputs(j, k - out));
    } else if (index < factors + in) {
      bias[index - factors] = of_bias(index - factors);
    } else {
      const unsigned at = index - factors - in;
      dw[at] = gradient(at / in, at % in);
    }
  }

 private:
  static constexpr unsigned kFew = 8;  // divides in and out

  TRAINYARD_HD float weight(unsigned c, unsigned k) const { return static_cast<float>(weights[size_t{c} * in + k]); }

  TRAINYARD_HD float of_inputs(unsigned j, unsigned k) const {
    float sum = 0;
    TRAINYARD_KEEP_LOOP
    for (unsigned c = 0; c < out; c += kFew) {
      float by_j[kFew], by_k[kFew], slopes[kFew];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kFew; ++i) {
        by_j[i] = weight(c + i, j);
        by_k[i] = weight(c + i, k);
        slopes[i] = slope[c + i];
      }
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kFew; ++i) sum = fmaf(by_j[i] * slopes[i], by_k[i], sum);
    }
    return sum;
  }

  TRAINYARD_HD float of_bias(unsigned j) const {
    double sum = 0;
    for (unsigned c = 0; c < out; ++c) {
      const double slope_c = static_cast<double>(slope[c]);
      sum +=
          static_cast<double>(weight(c, j)) * (static_cast<double>(offset[c]) - slope_c * static_cast<double>(mean[c]));
    }
    return static_cast<float>(sum);
  }

  TRAINYARD_HD float gradient(unsigned c, unsigned j) const {
    const float* of_x = products + size_t{out} * in;
    const double x_sum = static_cast<double>(of_x[size_t{in} * in + j]);
    double sum = -static_cast<double>(mean[c]) * x_sum;
    TRAINYARD_KEEP_LOOP
    for (unsigned k = 0; k < in; k += kFew) {
      float w[kFew], p[kFew];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kFew; ++i) {
        w[i] = weight(c, k + i);
        p[i] = of_x[size_t{k + i} * in + j];
      }
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kFew; ++i) sum += static_cast<double>(w[i]) * static_cast<double>(p[i]);
    }
    return static_cast<float>(static_cast<double>(scale[c]) * static_cast<double>(products[size_t{c} * in + j]) +
                              static_cast<double>(slope[c]) * sum + static_cast<double>(offset[c]) * x_sum);
  }
};

}  // namespace trainyard::cuda
