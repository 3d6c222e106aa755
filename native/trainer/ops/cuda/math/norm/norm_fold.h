// The end of a batch norm's sums: threads to blocks, blocks to one total a channel. The block of a
// tile that ends last adds up what the others wrote, always in the order of the chunks, so the bits
// do not depend on which block that is.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_tiles.h"

namespace trainyard::cuda {

/// A sum in shared memory. in_turn: one is read, added to and written before the next, where the
/// compiler would read all of them at once, into registers that there are not.
template <bool in_turn>
struct SharedSum {
  using Type = double;
};
template <>
struct SharedSum<true> {
  using Type = volatile double;
};

/// kSums sums a channel.
template <class T, unsigned kSums = 2>
struct NormFold {
  NormTiles tiles;
  double* partial;    // [tiles, chunks, kSums, kWide, lanes], 16-byte aligned
  unsigned* tickets;  // [tiles], zeros before and after

  static constexpr unsigned kColumns = kSums * kWide<T>;
  struct Shared {
    // Of three sums of 16-bit numbers that is all that a block may share.
    double sums[kColumns * kBlockThreads];
  };

  /// Doubles at `partial`.
  static size_t partial_sums(const NormTiles& t) { return size_t{t.tiles} * t.chunks * kColumns * t.lanes; }

  /// The phases of a kernel that sums. add_rows() begins with clear() and adds as often as there is
  /// something; finish(channel, sums) is called for the tile's channels, with an array of kSums.
  static constexpr int kPhases = 5;
  template <int phase, class AddRows, class Finish>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Shared& shared, const AddRows& add_rows,
                        const Finish& end) const {
    if constexpr (phase == 0) add_rows();
    if constexpr (phase == 1) write(block, thread, shared);
    if constexpr (phase == 2) take(block, thread, shared);
    if constexpr (phase == 3) gather(block, thread, shared);
    if constexpr (phase == 4) finish(block, thread, shared, end);
  }

  TRAINYARD_HD static void clear(unsigned thread, Shared& shared) {
    for (unsigned j = 0; j < kColumns; ++j) shared.sums[j * kBlockThreads + thread] = 0;
  }

  /// Short runs of fp32 sums, as many as kSums, join the thread's own in double, and begin anew.
  template <class... Runs>
  TRAINYARD_HD static void add(unsigned thread, Shared& shared, Runs&... runs) {
    static_assert(sizeof...(Runs) == kSums);
    Sum* to = shared.sums + thread;
    ((add_run(to, runs), to += kWide<T> * kBlockThreads), ...);
  }

 private:
  using Sum = typename SharedSum<(kSums > 2)>::Type;

  // Free from when the block's sums are written: gather() takes two sums a thread at most.
  static constexpr unsigned kLast = kColumns * kBlockThreads - 1;
  static constexpr unsigned kAtOnce = 16;  ///< sums of blocks whose loads are under way together
  static_assert(kLast >= 2 * kBlockThreads);

  TRAINYARD_HD static void add_run(Sum* to, float (&run)[kWide<T>]) {
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      to[v * kBlockThreads] = to[v * kBlockThreads] + static_cast<double>(run[v]);
      run[v] = 0;
    }
  }

  /// Whether all other blocks of the tile had written before this one.
  TRAINYARD_HD static bool is_last(const Shared& shared) { return shared.sums[kLast] != 0; }

  /// The block's sums, over its rows.
  TRAINYARD_HD void write(unsigned block, unsigned thread, const Shared& shared) const {
    const unsigned width = kColumns * tiles.lanes;
    double* to = chunk_of(block % tiles.tiles, block / tiles.tiles);
    for (unsigned column = thread; column < width; column += kBlockThreads) {
      const double* from = shared.sums + column / tiles.lanes * kBlockThreads + column % tiles.lanes;
      double sum = 0;
      for (unsigned row = 0; row < tiles.across; ++row) sum += from[row * tiles.lanes];
      to[column] = sum;
    }
    publish();
  }

  TRAINYARD_HD void take(unsigned block, unsigned thread, Shared& shared) const {
    if (thread == 0) shared.sums[kLast] = take_ticket(tickets + block % tiles.tiles) + 1 == tiles.chunks ? 1 : 0;
  }

  /// In the last block, sums over every groups()-th chunk: [groups, width], where the block's own
  /// sums were.
  TRAINYARD_HD void gather(unsigned block, unsigned thread, Shared& shared) const {
    if (!is_last(shared)) return;
    const unsigned width = kColumns * tiles.lanes;
    const unsigned pair = thread % (width / 2);
    const unsigned group = thread / (width / 2);
    if (group >= groups()) return;
    TwoSums sums{0, 0};
    const unsigned left = group < tiles.chunks ? (tiles.chunks - group - 1) / groups() + 1 : 0;
    const double* from = chunk_of(block % tiles.tiles, group) + 2 * size_t{pair};
    const size_t stride = size_t{groups()} * width;
    by_halves<kAtOnce>(left, [&]<unsigned n>(Count<n>) {
      TwoSums more[n];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) more[i] = load_fresh(from + i * stride);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < n; ++i) {
        sums.first += more[i].first;
        sums.second += more[i].second;
      }
      from += n * stride;
    });
    shared.sums[group * width + 2 * pair] = sums.first;
    shared.sums[group * width + 2 * pair + 1] = sums.second;
  }

  /// In the last block, calls finish(channel, sums) for the tile's channels.
  template <class Finish>
  TRAINYARD_HD void finish(unsigned block, unsigned thread, const Shared& shared, const Finish& finish) const {
    if (!is_last(shared)) return;
    if (thread == 0) tickets[block % tiles.tiles] = 0;
    const unsigned lane = thread / kWide<T>;
    const unsigned v = thread % kWide<T>;
    const unsigned channel = (block % tiles.tiles * tiles.lanes + lane) * kWide<T> + v;
    if (lane >= tiles.lanes || channel >= tiles.channels) return;
    const unsigned width = kColumns * tiles.lanes;
    double sums[kSums] = {};
    for (unsigned group = 0; group < groups(); ++group) {
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kSums; ++i) {
        sums[i] += shared.sums[group * width + (i * kWide<T> + v) * tiles.lanes + lane];
      }
    }
    finish(channel, sums);
  }

  TRAINYARD_HD unsigned groups() const { return kBlockThreads / (kColumns * tiles.lanes / 2); }
  TRAINYARD_HD double* chunk_of(unsigned tile, unsigned chunk) const {
    return partial + (size_t{tile} * tiles.chunks + chunk) * kColumns * tiles.lanes;
  }
};

}  // namespace trainyard::cuda
