// Batch norm forward by blocks: what norm_forward.h defines index by index, with loads of 16 bytes.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_fold.h"
#include "trainer/ops/cuda/math/norm/norm_forward.h"

namespace trainyard::cuda {

/// Rows, or one or two more, whose fp32 sums are added up before they join a sum in double.
inline constexpr unsigned kNormRun = 64;

/// Where what follows from the sums goes.
struct NormSumsEnd {
  NormStatistics statistics;
  double* totals;  ///< [2, channels] and the count, for a sum over ranks; nullptr: this rank's are all

  /// Of channel c: `count` numbers less `shift` add up to `sum`, and their squares to `squares`.
  TRAINYARD_HD void set(unsigned c, double shift, double sum, double squares, double count) const {
    if (totals == nullptr) {
      const double beside = sum / count;
      statistics.set(c, shift + beside, squares / count - beside * beside, count);
      return;
    }
    totals[c] = sum + count * shift;
    totals[statistics.channels + c] = squares + shift * (2 * sum + count * shift);
    if (c == 0) totals[2 * size_t{statistics.channels}] = count;
  }
};

/// Sums of x - shift and of its square, where a channel's shift is its number in the first row: so
/// fp32 keeps the digits of the variance however large the mean is (Chan, Golub and LeVeque 1983,
/// "Algorithms for computing the sample variance", section 3).
template <class T>
struct NormSumsBlock {
  static constexpr int kPhases = NormFold<T>::kPhases;
  static constexpr unsigned kResident = 2;
  using Shared = typename NormFold<T>::Shared;
  struct Thread {};

  const T* x;  // [rows, channels], 16-byte aligned
  NormFold<T> fold;
  NormSumsEnd end;

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    fold.template run<phase>(
        block, thread, shared, [&] { add_rows(block, thread, shared); },
        [this](unsigned c, const double (&sums)[2]) { finish(c, sums[0], sums[1]); });
  }

 private:
  TRAINYARD_HD void add_rows(unsigned block, unsigned thread, Shared& shared) const {
    constexpr unsigned kRows = 8;
    fold.clear(thread, shared);
    const auto share = NormShare<T>::of(fold.tiles, block, thread);
    if (!share.active) return;
    const T* from = x + share.channel;
    const size_t channels = fold.tiles.channels;
    const Wide<T> first_row = load_wide(from);
    float shift[kWide<T>];
    float sum[kWide<T>];
    float squares[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      shift[v] = first_row[v];
      sum[v] = squares[v] = 0;
    }
    unsigned run = 0;
    share.template each_row<kRows>(fold.tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const auto rows = Rows<T, n>::load(from + row * channels, fold.tiles.across * channels);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          const float d = rows.at[i][v] - shift[v];
          sum[v] += d;
          squares[v] = fmaf(d, d, squares[v]);
        }
      }
      run += n;
      if (run < kNormRun) return;
      fold.add(thread, shared, sum, squares);
      run = 0;
    });
    fold.add(thread, shared, sum, squares);
  }

  TRAINYARD_HD void finish(unsigned c, double sum, double squares) const {
    end.set(c, static_cast<float>(x[c]), sum, squares, fold.tiles.rows);
  }
};

/// From partial sums that a convolution wrote: end(channel, sums), of End::kSums sums. A block has 8
/// channels, and 32 threads share the rows of one.
template <class End>
struct NormPartialsBlock {
  static constexpr unsigned kSums = End::kSums;
  static constexpr int kPhases = 2;
  static constexpr unsigned kResident = 4;
  static constexpr unsigned kChannels = 8;
  static constexpr unsigned kSharers = kBlockThreads / kChannels;
  struct Shared {
    double sums[kSums][kBlockThreads];
  };
  struct Thread {};

  const float* partial;  // [kSums, rows, channels]
  unsigned rows, channels;
  End end;

  /// channels: a multiple of kChannels.
  static size_t blocks(unsigned channels) { return channels / kChannels; }

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    const unsigned channel = block * kChannels + thread % kChannels;
    if constexpr (phase == 0) {
      double sums[kSums] = {};
      add_rows(partial + channel, thread / kChannels, sums);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kSums; ++i) shared.sums[i][thread] = sums[i];
    } else if (thread < kChannels) {
      double sums[kSums] = {};
      for (unsigned i = 0; i < kSums; ++i) {
        for (unsigned sharer = 0; sharer < kSharers; ++sharer) sums[i] += shared.sums[i][sharer * kChannels + thread];
      }
      end(channel, sums);
    }
  }

 private:
  /// Every kSharers-th row of a channel.
  TRAINYARD_HD void add_rows(const float* from, unsigned first, double (&sums)[kSums]) const {
    constexpr unsigned kFew = 8;
    const size_t stride = size_t{kSharers} * channels;
    const unsigned left = first < rows ? (rows - first - 1) / kSharers + 1 : 0;
    from += size_t{first} * channels;
    by_halves<kFew>(left, [&]<unsigned n>(Count<n>) {
      float few[kSums][n];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kSums; ++i) {
        TRAINYARD_UNROLL
        for (unsigned r = 0; r < n; ++r) few[i][r] = from[size_t{i} * rows * channels + r * stride];
      }
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kSums; ++i) {
        TRAINYARD_UNROLL
        for (unsigned r = 0; r < n; ++r) sums[i] += few[i][r];
      }
      from += n * stride;
    });
  }
};

/// The end of sums of x, of numbers without a shift: in bf16 a channel whose mean is that much
/// larger than its deviation has lost its digits when it is stored.
struct NormPartialsEnd {
  static constexpr unsigned kSums = 2;
  NormSumsEnd end;
  double count;  // of numbers that a channel's sums are of

  TRAINYARD_HD void operator()(unsigned c, const double (&sums)[2]) const { end.set(c, 0, sums[0], sums[1], count); }
};

/// What else than the normalised numbers goes into y.
enum class NormEnd {
  plain,
  relu,
  residual,
  residual_relu,
  residual_relu_noted,  ///< and which numbers passed the ReLU is noted for backward
};

/// y = relu(normalised(x) + residual).
template <class T, NormEnd kEnd>
struct NormApplyBlock {
  static constexpr int kPhases = 1;
  static constexpr unsigned kResident = 3;
  static constexpr bool kResidual = kEnd != NormEnd::plain && kEnd != NormEnd::relu;
  static constexpr bool kRelu = kEnd != NormEnd::plain && kEnd != NormEnd::residual;
  struct Shared {};
  struct Thread {};

  NormTiles tiles;
  const T* x;         // [rows, channels]
  const T* residual;  // read only with a residual
  T* y;               // may be x
  uint8_t* passed;    // [rows, channels / kWide]: bit v of a byte is the v-th channel's
  NormConstants constants;

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared&) const {
    constexpr unsigned kRows = 4;
    const auto share = NormShare<T>::of(tiles, block, thread);
    if (!share.active) return;
    NormConstantsOf<kWide<T>> k(constants, share.channel);
    const size_t channels = tiles.channels;
    const size_t stride = tiles.across * channels;
    share.template each_row<kRows>(tiles, [&]<unsigned n>(Count<n>, unsigned row) {
      const size_t at = row * channels + share.channel;
      const auto in = Rows<T, n>::load(x + at, stride);
      Rows<T, kResidual ? n : 1> other;
      if constexpr (kResidual) other = Rows<T, n>::load(residual + at, stride);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        float out[kWide<T>];
        [[maybe_unused]] unsigned bits = 0;
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < kWide<T>; ++v) {
          float value = k.normalised(in.at[i][v], v);
          if constexpr (kResidual) value += other.at[i][v];
          const bool above = value > 0.0F;
          if constexpr (kEnd == NormEnd::residual_relu_noted) bits |= (above ? 1U : 0U) << v;
          out[v] = kRelu && !above ? 0.0F : value;
        }
        store_wide(y + at + i * stride, Wide<T>::of(out));
        if constexpr (kEnd == NormEnd::residual_relu_noted) {
          passed[(at + i * stride) / kWide<T>] = static_cast<uint8_t>(bits);
        }
      }
    });
  }
};

}  // namespace trainyard::cuda
