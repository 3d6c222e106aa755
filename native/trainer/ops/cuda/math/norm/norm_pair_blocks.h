// Two batch norms that are added behind one ReLU, by blocks: the branch of a residual block (index
// 0) and its projection (1). So what is normalised of either is never written.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_backward_blocks.h"

namespace trainyard::cuda {

/// y = relu(normalised(x[0]) + normalised(x[1])); with kNote what the ReLU let pass is noted.
template <class T, bool kNote>
struct NormPairApplyBlock {
  static constexpr int kPhases = 1;
  static constexpr unsigned kResident = 2;
  struct Shared {};
  struct Thread {};

  NormTiles tiles;
  const T* x[2];  // [rows, channels]
  T* y;
  uint8_t* passed;  // as NormApplyBlock's
  NormConstants constants[2];

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared&) const {
    constexpr unsigned kRows = 4;
    const auto share = NormShare<T>::of(tiles, block, thread);
    if (!share.active) return;
    const NormConstantsOf<kWide<T>> branch(constants[0], share.channel);
    const NormConstantsOf<kWide<T>> projection(constants[1], share.channel);
    const size_t channels = tiles.channels;
    const size_t stride = tiles.across * channels;
    share.template each_row<kRows>(tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const size_t at = row * channels + share.channel;
      const auto first = Rows<T, n>::load(x[0] + at, stride);
      const auto second = Rows<T, n>::load(x[1] + at, stride);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        float out[kWide<T>];
        [[maybe_unused]] unsigned bits = 0;
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          const float value = branch.normalised(first.at[i][v], v) + projection.normalised(second.at[i][v], v);
          const bool above = value > 0.0F;
          if constexpr (kNote) bits |= (above ? 1U : 0U) << v;
          out[v] = above ? value : 0.0F;
        }
        store_wide(y + at + i * stride, Wide<T>::of(out));
        if constexpr (kNote) passed[(at + i * stride) / kWide<T>] = static_cast<uint8_t>(bits);
      }
    });
  }
};

/// g = (dy + more) where the ReLU passed; sums of g, which both have, and of g * (x - mean) of
/// each.
template <class T, bool kMore>
struct NormPairGradientSumsBlock {
  using Fold = NormFold<T, 3>;
  static constexpr int kPhases = Fold::kPhases;
  static constexpr unsigned kResident = 2;
  using Shared = typename Fold::Shared;
  struct Thread {};

  T* dy;                  // [rows, channels]; holds g afterwards
  const T* more;          // read only with kMore
  const T* x[2];          // as in forward
  const uint8_t* passed;  // NormPairApplyBlock's
  const float* mean[2];   // [channels]
  Fold fold;
  NormGradientTotals<2> totals;

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    fold.template run<phase>(block, thread, shared, [&] { add_rows(block, thread, shared); }, totals);
  }

 private:
  TRAINYARD_HD void add_rows(unsigned block, unsigned thread, Shared& shared) const {
    constexpr unsigned kRows = 3;  // of four tensors; a fourth would not fit the registers
    fold.clear(thread, shared);
    const auto share = NormShare<T>::of(fold.tiles, block, thread);
    if (!share.active) return;
    const size_t channels = fold.tiles.channels;
    const size_t stride = fold.tiles.across * channels;
    float centre[2][kWide<T>];
    float sum[kWide<T>];
    float branch[kWide<T>];
    float projection[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      centre[0][v] = mean[0][share.channel + v];
      centre[1][v] = mean[1][share.channel + v];
      sum[v] = branch[v] = projection[v] = 0;
    }
    unsigned run = 0;
    share.template each_row<kRows>(fold.tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const size_t at = row * channels + share.channel;
      const auto gradients = Rows<T, n>::load(dy + at, stride);
      const auto first = Rows<T, n>::load(x[0] + at, stride);
      const auto second = Rows<T, n>::load(x[1] + at, stride);
      Rows<T, kMore ? n : 1> others;
      if constexpr (kMore) others = Rows<T, n>::load(more + at, stride);
      unsigned bits[n];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) bits[i] = passed[(at + i * stride) / kWide<T>];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        float kept[kWide<T>];
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          float g = gradients.at[i][v];
          if constexpr (kMore) g += others.at[i][v];
          g = (bits[i] >> v & 1U) != 0 ? g : 0.0F;
          kept[v] = g;
          sum[v] += g;
          branch[v] = fmaf(g, first.at[i][v] - centre[0][v], branch[v]);
          projection[v] = fmaf(g, second.at[i][v] - centre[1][v], projection[v]);
        }
        store_wide(dy + at + i * stride, Wide<T>::of(kept));
      }
      run += n;
      if (run < kNormRun) return;
      fold.add(thread, shared, sum, branch, projection);
      run = 0;
    });
    fold.add(thread, shared, sum, branch, projection);
  }
};

/// One of the two gradients that follow from g.
template <class T>
struct NormGradientOf {
  const T* x;  // [rows, channels]
  T* dx;       // may be where g is
  NormConstants constants;
  const float* slope;   // [channels]
  const float* offset;  // [channels]
};

/// dx = scale * g + slope * (x - mean) + offset, of both.
template <class T>
struct NormPairGradientBlock {
  static constexpr int kPhases = 1;
  static constexpr unsigned kResident = 2;
  struct Shared {};
  struct Thread {};

  NormTiles tiles;
  const T* gradient;  // [rows, channels]: g
  NormGradientOf<T> of[2];

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared&) const {
    constexpr unsigned kRows = 2;  // of three tensors; a third would not fit the registers
    const auto share = NormShare<T>::of(tiles, block, thread);
    if (!share.active) return;
    float mean[2][kWide<T>];
    float scale[2][kWide<T>];
    float slope[2][kWide<T>];
    float offset[2][kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned k = 0; k < 2; ++k) {
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < kWide<T>; ++v) {
        mean[k][v] = of[k].constants.mean[share.channel + v];
        scale[k][v] = of[k].constants.scale[share.channel + v];
        slope[k][v] = of[k].slope[share.channel + v];
        offset[k][v] = of[k].offset[share.channel + v];
      }
    }
    const size_t channels = tiles.channels;
    const size_t stride = tiles.across * channels;
    share.template each_row<kRows>(tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const size_t at = row * channels + share.channel;
      const auto gradients = Rows<T, n>::load(gradient + at, stride);
      const Rows<T, n> in[2] = {Rows<T, n>::load(of[0].x + at, stride), Rows<T, n>::load(of[1].x + at, stride)};
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        TRAINYARD_UNROLL
        for (unsigned k = 0; k < 2; ++k) {
          float out[kWide<T>];
          TRAINYARD_UNROLL
          for (unsigned v = 0; v < kWide<T>; ++v) {
            const float g = gradients.at[i][v];
            out[v] = fmaf(in[k].at[i][v] - mean[k][v], slope[k][v], fmaf(g, scale[k][v], offset[k][v]));
          }
          store_wide(of[k].dx + at + i * stride, Wide<T>::of(out));
        }
      }
    });
  }
};

}  // namespace trainyard::cuda
