// What batch norms by blocks have in common: their scratch, the statistics forward, and what
// follows from the sums backward.
#pragma once
#include <algorithm>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/norm/norm_merge.h"
#include "trainer/ops/cuda/norm/norm_saved.h"

namespace trainyard::cuda {

/// Lanes of a kernel that sums: a tile is 256 bytes wide. More would leave a block more of the others'
/// sums to add up in the end; with fewer the rows that blocks read are short beside a page of the
/// memory (8 lanes: 1.8 % more time a step of resnet50 on an H200, docs/performance.md).
inline constexpr unsigned kSummingLanes = 16;
/// What a block of a kernel that sums reads of one tensor at least, as long as kLeastSummingBlocks do
/// so: in a small tensor the end, where one block adds up what all of them found, takes longer than
/// the rows (docs/performance.md).
inline constexpr size_t kSummingBytes = size_t{64} << 10U;
inline constexpr size_t kLeastSummingBlocks = 66;
/// Lanes of a kernel that passes: whole warps, whose bits are stored together.
inline constexpr unsigned kPassingLanes = 32;

/// What one batch norm works in, laid over the caller's memory.
struct NormWork {
  double* totals;           // [2, channels] and the count
  NormConstants constants;  // of inference
  float* slope;             // [channels]
  float* offset;            // [channels]

  NormWork(void* memory, size_t channels) : totals(static_cast<double*>(memory)) {
    auto* floats = reinterpret_cast<float*>(totals + 2 * channels + 1);
    constants = {floats, floats + channels, floats + 2 * channels};
    slope = floats + 3 * channels;
    offset = floats + 4 * channels;
  }

  /// A multiple of 8.
  static size_t bytes(size_t channels) {
    return (2 * channels + 1) * sizeof(double) + (5 * channels + 1) / 2 * 2 * sizeof(float);
  }
};

/// What the convolution before a merged batch norm knows, for kernels. T: 16-bit.
template <class T>
MergedProducts<T> merged_products(const BatchNormOp::Merging& merging, const NormSaved& saved) {
  return {merging.products, static_cast<const T*>(merging.weights), saved.constants.mean, merging.inner};
}
/// What a merged batch norm has found out.
inline MergedNorm merged_norm(const NormSaved& saved, const NormWork& work) {
  return {.mean = saved.constants.mean, .scale = saved.constants.scale, .slope = work.slope, .offset = work.offset};
}

/// The steps of one batch norm over [rows, channels], which an op is made of.
template <class T>
class NormSteps {
 public:
  NormSteps(const Device& device, const TensorDesc& input, double eps, double momentum)
      : device_(device),
        channels_(static_cast<unsigned>(input.shape.c)),
        eps_(eps),
        momentum_(momentum),
        summing_(summing(static_cast<unsigned>(input.elements() / channels_))) {}

  /// Whether there are kernels of blocks for so many channels.
  static bool takes(const Device& device, int channels) {
    const auto count = static_cast<unsigned>(channels);
    return device.takes_wide<T>(count) && NormTiles::of(1, count, kWide<T>, 1, kSummingLanes).tiles <= kTickets;
  }

  unsigned channels() const { return channels_; }
  /// Of a kernel that sums over so many rows.
  NormTiles summing(unsigned rows) const {
    const size_t worthwhile = std::max(size_t{rows} * channels_ * sizeof(T) / kSummingBytes, kLeastSummingBlocks);
    const auto blocks = static_cast<unsigned>(std::min<size_t>(worthwhile, device_.summing_blocks));
    return NormTiles::of(rows, channels_, kWide<T>, blocks, kSummingLanes);
  }
  /// Of a kernel that passes over them.
  NormTiles passing(unsigned rows) const {
    return NormTiles::of(rows, channels_, kWide<T>, device_.passing_blocks, kPassingLanes);
  }
  /// Doubles that statistics() wants at `partial`.
  size_t partial_sums() const { return NormFold<T>::partial_sums(summing_); }

  template <unsigned kSums = 2>
  NormFold<T, kSums> fold(const NormTiles& tiles, double* partial) const {
    return {tiles, partial, reinterpret_cast<unsigned*>(device_.tickets->data())};
  }

  /// From x or what it adds up to, and what `args` has: the statistics of all ranks, and in `saved`
  /// what normalises.
  template <class Args>
  void statistics(const Args& args, const NormSaved& saved, double* partial, const NormWork& work,
                  const SumOverRanks& sum) const {
    const NormStatistics statistics{work.totals,
                                    channels_,
                                    eps_,
                                    momentum_,
                                    args.gamma,
                                    args.beta,
                                    args.running_mean,
                                    args.running_var,
                                    saved.count,
                                    saved.inverse_deviation,
                                    saved.constants};
    const NormSumsEnd end{statistics, sum ? work.totals : nullptr};
    if (args.sums.rows > 0) {
      totals_of(args.sums, NormPartialsEnd{end, double(summing_.rows)});
    } else {
      blocks(device_.launcher, summing_.blocks(),
             NormSumsBlock<T>{static_cast<const T*>(args.x), fold(summing_, partial), end});
    }
    if (!sum) return;
    sum(work.totals, 2 * size_t{channels_} + 1);
    each(device_.launcher, channels_, statistics);
  }

  /// What a convolution has added up in parts: to end(channel, sums).
  template <class End>
  void totals_of(const ChannelSums& sums, const End& end) const {
    blocks(device_.launcher, NormPartialsBlock<End>::blocks(channels_),
           NormPartialsBlock<End>{sums.partial, sums.rows, channels_, end});
  }

  /// The constants of inference.
  template <class Args>
  void running(const Args& args, const NormWork& work) const {
    each(device_.launcher, channels_,
         NormRunning{eps_, args.gamma, args.beta, args.running_mean, args.running_var, work.constants});
  }

  /// What follows from the sums of gradients. alone: no other rank has more.
  template <class Args>
  NormGradientEnd gradient_end(const Args& args, const NormSaved& saved, const NormWork& work, bool alone) const {
    return {{work.totals, saved.inverse_deviation, channels_, args.dgamma, args.dbeta},
            {work.totals, saved.inverse_deviation, saved.count, args.gamma, channels_, work.slope, work.offset},
            alone};
  }

  /// Behind a kernel that summed gradients: what the other ranks have joins.
  void join_ranks(const NormGradientEnd& end, const NormWork& work, const SumOverRanks& sum) const {
    if (!sum) return;
    sum(work.totals, 2 * size_t{channels_});
    each(device_.launcher, channels_, end.constants);
  }

 private:
  const Device& device_;
  unsigned channels_;
  double eps_, momentum_;
  NormTiles summing_;  // of x
};

}  // namespace trainyard::cuda
