// The four loops of batch norm over one strip: sums, normalise, sums for backward, gradient.
#pragma once
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

/// Per-channel numbers that the loops use; each array has the tensor's padded channels, zero in the padding.
struct NormConstants {
  float* mean;   // [c]
  float* scale;  // [c] gamma / sqrt(var + eps)
  float* beta;   // [c]
};

/// Sums of x and of x squared, in double: with numbers of 24 bits a product is exact, so what is lost is far below
/// fp32.
template <int width>
void norm_sums(const float* x, const Strip& s, double* sum, double* squares) {
  using L = Lanes<width>;
  typename L::Double total{};
  typename L::Double total_squares{};
  for (size_t r = 0; r < s.rows; ++r) {
    const auto value = __builtin_convertvector(L::at(x + r * s.stride).value, typename L::Double);
    total += value;
    total_squares += value * value;
  }
  L::at(sum).value = total;
  L::at(squares).value = total_squares;
}

/// y = (x - mean) * scale + beta, plus the residual, then ReLU.
template <int width, bool residual, bool relu>
void norm_apply(const float* x, const float* other, float* y, const Strip& s, const NormConstants& k) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  const Float mean = L::at(k.mean + s.channel).value;
  const Float scale = L::at(k.scale + s.channel).value;
  const Float beta = L::at(k.beta + s.channel).value;
  for (size_t r = 0; r < s.rows; ++r) {
    Float value = (L::at(x + r * s.stride).value - mean) * scale + beta;
    if constexpr (residual) value += L::at(other + r * s.stride).value;
    if constexpr (relu) value = value > 0.0F ? value : Float{};
    L::at(y + r * s.stride).value = value;
  }
}

/// Where a ReLU let the gradient pass.
enum class Mask {
  none,    ///< no ReLU
  input,   ///< found again from x, with norm_apply's own operations, which saves reading y
  output,  ///< where y is above zero
};

/// One row of the gradient behind the ReLU.
template <int width, Mask mask>
inline __attribute__((always_inline)) void masked(typename Lanes<width>::Float& g, const float* x, const float* y,
                                                  const typename Lanes<width>::Float& mean,
                                                  const typename Lanes<width>::Float& scale,
                                                  const typename Lanes<width>::Float& beta) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  if constexpr (mask == Mask::input) {
    const Float value = (L::at(x).value - mean) * scale + beta;
    g = value > 0.0F ? g : Float{};
  }
  if constexpr (mask == Mask::output) {
    const Float value = L::at(y).value;
    g = value > 0.0F ? g : Float{};
  }
}

/// g = (dy + more) where the ReLU passed; sums of g and of g * (x - mean). Stores g over dy when `store`.
template <int width, Mask mask, bool add, bool store>
void norm_gradient_sums(float* dy, const float* more, const float* x, const float* y, const Strip& s,
                        const NormConstants& k, double* sum, double* products) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  using Double = typename L::Double;
  const Float mean = L::at(k.mean + s.channel).value;
  const Float scale = L::at(k.scale + s.channel).value;
  const Float beta = L::at(k.beta + s.channel).value;
  Double total{};
  Double total_products{};
  for (size_t r = 0; r < s.rows; ++r) {
    const size_t at = r * s.stride;
    Float g = L::at(dy + at).value;
    if constexpr (add) g += L::at(more + at).value;
    masked<width, mask>(g, x + at, y + at, mean, scale, beta);
    if constexpr (store) L::at(dy + at).value = g;
    const Float centred = L::at(x + at).value - mean;
    const Double wide = __builtin_convertvector(g, Double);
    total += wide;
    total_products += wide * __builtin_convertvector(centred, Double);
  }
  L::at(sum).value = total;
  L::at(products).value = total_products;
}

/// dx = scale * g + slope * (x - mean) + offset, with g masked here unless norm_gradient_sums stored it.
template <int width, Mask mask>
void norm_gradient(const float* g_or_dy, const float* x, float* dx, const Strip& s, const NormConstants& k,
                   const float* slope, const float* offset) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  const Float mean = L::at(k.mean + s.channel).value;
  const Float scale = L::at(k.scale + s.channel).value;
  const Float beta = L::at(k.beta + s.channel).value;
  const Float a = L::at(slope + s.channel).value;
  const Float b = L::at(offset + s.channel).value;
  for (size_t r = 0; r < s.rows; ++r) {
    const size_t at = r * s.stride;
    Float g = L::at(g_or_dy + at).value;
    masked<width, mask>(g, x + at, nullptr, mean, scale, beta);
    const Float centred = L::at(x + at).value - mean;
    L::at(dx + at).value = centred * a + (g * scale + b);
  }
}

}  // namespace trainyard::cpu
