// The four loops of batch norm over one strip: sums, normalise, sums for backward, gradient.
#pragma once
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

/// Per-channel numbers that the loops use; each array has the tensor's padded channels, zero in the
/// padding.
struct NormConstants {
  float* mean;   // [c]
  float* scale;  // [c] gamma / sqrt(var + eps)
  float* beta;   // [c]
};

/// Sums go into double: with numbers of 24 bits a product is exact, so what is lost is far below
/// fp32. Of bf16 a few rows are first summed in fp32, where a product of two is exact too: half the
/// work.
template <int width, class T>
struct PartialSums {
  using Sum = typename Lanes<width>::Double;
  static constexpr size_t rows = std::numeric_limits<size_t>::max();
};
template <int width>
struct PartialSums<width, BFloat16> {
  using Sum = typename Lanes<width>::Float;
  static constexpr size_t rows = 16;
};
template <int width>
struct PartialSums<width, MachineBFloat16> : PartialSums<width, BFloat16> {};

/// Sums of x and of x squared, added to those of the strips before.
template <int width, class T>
TRAINYARD_INLINE void norm_sums(const T* x, const Strip& s, double* sum, double* squares) {
  using L = Lanes<width>;
  using Double = typename L::Double;
  using Sum = typename PartialSums<width, T>::Sum;
  Double total{};
  Double total_squares{};
  if (!s.first) {
    total = L::at(sum).value;
    total_squares = L::at(squares).value;
  }
  for (size_t r = 0; r < s.rows;) {
    Sum some{};
    Sum some_squares{};
    for (const size_t end = r + std::min(s.rows - r, PartialSums<width, T>::rows); r < end; ++r) {
      const auto value = __builtin_convertvector(L::load(x + r * s.stride).value, Sum);
      some += value;
      some_squares += value * value;
    }
    total += __builtin_convertvector(some, Double);
    total_squares += __builtin_convertvector(some_squares, Double);
  }
  L::at(sum).value = total;
  L::at(squares).value = total_squares;
}

/// y = (x - mean) * scale + beta, plus the residual, then ReLU.
template <int width, bool residual, bool relu, class T>
TRAINYARD_INLINE void norm_apply(const T* x, const T* other, T* y, const Strip& s, const NormConstants& k) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  const Float mean = L::load(k.mean + s.channel).value;
  const Float scale = L::load(k.scale + s.channel).value;
  const Float beta = L::load(k.beta + s.channel).value;
  for (size_t r = 0; r < s.rows; ++r) {
    Float value = (L::load(x + r * s.stride).value - mean) * scale + beta;
    if constexpr (residual) value += L::load(other + r * s.stride).value;
    if constexpr (relu) value = value > 0.0F ? value : Float{};
    L::store(y + r * s.stride, value);
  }
}

/// Where a ReLU let the gradient pass.
enum class Mask {
  none,    ///< no ReLU
  input,   ///< found again from x, with norm_apply's own operations, which saves reading y
  output,  ///< where y is above zero
};

/// One row of the gradient behind the ReLU.
template <int width, Mask mask, class T>
TRAINYARD_INLINE void masked(typename Lanes<width>::Float& g, const T* x, const T* y,
                             const typename Lanes<width>::Float& mean, const typename Lanes<width>::Float& scale,
                             const typename Lanes<width>::Float& beta) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  if constexpr (mask == Mask::input) {
    const Float value = (L::load(x).value - mean) * scale + beta;
    g = value > 0.0F ? g : Float{};
  }
  if constexpr (mask == Mask::output) {
    const Float value = L::load(y).value;
    g = value > 0.0F ? g : Float{};
  }
}

/// g = (dy + more) where the ReLU passed; sums of g and of g * (x - mean), as in norm_sums. Stores
/// g over dy when `store`.
template <int width, Mask mask, bool add, bool store, class T>
TRAINYARD_INLINE void norm_gradient_sums(T* dy, const T* more, const T* x, const T* y, const Strip& s,
                                         const NormConstants& k, double* sum, double* products) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  using Double = typename L::Double;
  using Sum = typename PartialSums<width, T>::Sum;
  const Float mean = L::load(k.mean + s.channel).value;
  const Float scale = L::load(k.scale + s.channel).value;
  const Float beta = L::load(k.beta + s.channel).value;
  Double total{};
  Double total_products{};
  if (!s.first) {
    total = L::at(sum).value;
    total_products = L::at(products).value;
  }
  for (size_t r = 0; r < s.rows;) {
    Sum some{};
    Sum some_products{};
    for (const size_t end = r + std::min(s.rows - r, PartialSums<width, T>::rows); r < end; ++r) {
      const size_t at = r * s.stride;
      Float g = L::load(dy + at).value;
      if constexpr (add) g += L::load(more + at).value;
      masked<width, mask>(g, x + at, y + at, mean, scale, beta);
      if constexpr (store) L::store(dy + at, g);
      const Float centred = L::load(x + at).value - mean;
      const Sum wide = __builtin_convertvector(g, Sum);
      some += wide;
      some_products += wide * __builtin_convertvector(centred, Sum);
    }
    total += __builtin_convertvector(some, Double);
    total_products += __builtin_convertvector(some_products, Double);
  }
  L::at(sum).value = total;
  L::at(products).value = total_products;
}

/// dx = scale * g + slope * (x - mean) + offset, with g masked here unless norm_gradient_sums
/// stored it.
template <int width, Mask mask, class T>
TRAINYARD_INLINE void norm_gradient(const T* g_or_dy, const T* x, T* dx, const Strip& s, const NormConstants& k,
                                    const float* slope, const float* offset) {
  using L = Lanes<width>;
  using Float = typename L::Float;
  const Float mean = L::load(k.mean + s.channel).value;
  const Float scale = L::load(k.scale + s.channel).value;
  const Float beta = L::load(k.beta + s.channel).value;
  const Float a = L::load(slope + s.channel).value;
  const Float b = L::load(offset + s.channel).value;
  for (size_t r = 0; r < s.rows; ++r) {
    const size_t at = r * s.stride;
    Float g = L::load(g_or_dy + at).value;
    masked<width, mask>(g, x + at, x + at, mean, scale, beta);
    const Float centred = L::load(x + at).value - mean;
    L::store(dx + at, centred * a + (g * scale + b));
  }
}

}  // namespace trainyard::cpu
