// Batch norm backward by blocks: what norm_backward.h defines index by index, with loads of 16
// bytes.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_backward.h"
#include "trainer/ops/cuda/math/norm/norm_forward_blocks.h"

namespace trainyard::cuda {

/// Where the ReLU let the gradient pass, as Mask, but for the output: that was noted forward.
enum class Passed {
  all,    ///< no ReLU
  input,  ///< found again from x
  noted,  ///< NormApplyBlock's bits
};

/// What follows from the sums, of this rank and over all.
struct NormGradientEnd {
  NormParameterGradients parameters;
  NormGradientConstants constants;
  bool alone;  ///< this rank's sums are all: the constants are set here
};

/// Where the sums of a channel go: of g, then of g * (x - mean) of each of kNorms batch norms with
/// the same g.
template <unsigned kNorms>
struct NormGradientTotals {
  static constexpr unsigned kSums = 1 + kNorms;
  unsigned channels;
  double* totals[kNorms];  // [2, channels]
  NormGradientEnd end[kNorms];

  TRAINYARD_HD void operator()(unsigned c, const double (&sums)[kSums]) const {
    TRAINYARD_UNROLL
    for (unsigned i = 0; i < kNorms; ++i) {
      totals[i][c] = sums[0];
      totals[i][channels + c] = sums[1 + i];
      end[i].parameters(c);
      if (end[i].alone) end[i].constants(c);
    }
  }
};

/// g = (dy + more) where the ReLU passed; sums of g and of g * (x - mean).
template <class T, bool kMore, Passed kPassed, bool kStore>
struct NormGradientSumsBlock {
  static constexpr int kPhases = NormFold<T>::kPhases;
  static constexpr unsigned kResident = 2;
  using Shared = typename NormFold<T>::Shared;
  struct Thread {};

  T* dy;                  // [rows, channels]; with kStore it holds g afterwards
  const T* more;          // read only with kMore
  const T* x;             // as in forward
  const uint8_t* passed;  // read only with Passed::noted
  NormConstants constants;
  NormFold<T> fold;
  NormGradientTotals<1> totals;

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    fold.template run<phase>(block, thread, shared, [&] { add_rows(block, thread, shared); }, totals);
  }

 private:
  TRAINYARD_HD void add_rows(unsigned block, unsigned thread, Shared& shared) const {
    constexpr unsigned kRows = kMore && kPassed == Passed::input ? 3 : 4;  // a fourth would not fit the registers
    fold.clear(thread, shared);
    const auto share = NormShare<T>::of(fold.tiles, block, thread);
    if (!share.active) return;
    const NormConstantsOf<kWide<T>> k(constants, share.channel);
    const size_t channels = fold.tiles.channels;
    const size_t stride = fold.tiles.across * channels;
    float sum[kWide<T>];
    float products[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) sum[v] = products[v] = 0;
    unsigned run = 0;
    share.template each_row<kRows>(fold.tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const size_t at = row * channels + share.channel;
      const auto gradients = Rows<T, n>::load(dy + at, stride);
      const auto in = Rows<T, n>::load(x + at, stride);
      Rows<T, kMore ? n : 1> others;
      if constexpr (kMore) others = Rows<T, n>::load(more + at, stride);
      [[maybe_unused]] unsigned bits[n];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        bits[i] = 0;
        if constexpr (kPassed == Passed::noted) bits[i] = passed[(at + i * stride) / kWide<T>];
      }
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        float kept[kWide<T>];
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          float g = gradients.at[i][v];
          if constexpr (kMore) g += others.at[i][v];
          const float value = in.at[i][v];
          if constexpr (kPassed == Passed::input) g = k.normalised(value, v) > 0.0F ? g : 0.0F;
          if constexpr (kPassed == Passed::noted) g = (bits[i] >> v & 1U) != 0 ? g : 0.0F;
          kept[v] = g;
          sum[v] += g;
          products[v] = fmaf(g, value - k.mean[v], products[v]);
        }
        if constexpr (kStore) store_wide(dy + at + i * stride, Wide<T>::of(kept));
      }
      run += n;
      if (run < kNormRun) return;
      fold.add(thread, shared, sum, products);
      run = 0;
    });
    fold.add(thread, shared, sum, products);
  }
};

/// dx = scale * g + slope * (x - mean) + offset.
template <class T, bool kMasked>
struct NormGradientBlock {
  static constexpr int kPhases = 1;
  static constexpr unsigned kResident = 2;
  struct Shared {};
  struct Thread {};

  NormTiles tiles;
  const T* gradient;  // [rows, channels]: dy, to be masked by x with kMasked, or g
  const T* x;
  T* dx;  // may be gradient
  NormConstants constants;
  const float* slope;   // [channels]
  const float* offset;  // [channels]

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared&) const {
    constexpr unsigned kRows = 4;
    const auto share = NormShare<T>::of(tiles, block, thread);
    if (!share.active) return;
    const NormConstantsOf<kWide<T>> k(constants, share.channel);
    float a[kWide<T>];
    float b[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      a[v] = slope[share.channel + v];
      b[v] = offset[share.channel + v];
    }
    const size_t channels = tiles.channels;
    const size_t stride = tiles.across * channels;
    share.template each_row<kRows>(tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const size_t at = row * channels + share.channel;
      const auto gradients = Rows<T, n>::load(gradient + at, stride);
      const auto in = Rows<T, n>::load(x + at, stride);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        float out[kWide<T>];
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          float g = gradients.at[i][v];
          const float value = in.at[i][v];
          if constexpr (kMasked) g = k.normalised(value, v) > 0.0F ? g : 0.0F;
          out[v] = fmaf(value - k.mean[v], a[v], fmaf(g, k.scale[v], b[v]));
        }
        store_wide(dx + at + i * stride, Wide<T>::of(out));
      }
    });
  }
};

}  // namespace trainyard::cuda
