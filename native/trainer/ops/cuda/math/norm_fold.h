// The end of a batch norm's sums: threads to blocks, blocks to one total a channel. The block of a
// tile that ends last adds up what the others wrote, always in the order of the chunks, so the bits
// do not depend on which block that is.
#pragma once
#include "trainer/ops/cuda/math/norm_tiles.h"

namespace trainyard::cuda {

/// Two sums a channel.
template <class T>
struct NormFold {
  NormTiles tiles;
  double* partial;    // [tiles, chunks, 2, kWide, lanes], 16-byte aligned
  unsigned* tickets;  // [tiles], zeros before and after

  static constexpr unsigned kColumns = 2 * kWide<T>;
  struct Shared {
    double sums[kColumns * kBlockThreads];
    unsigned last;  // whether all other blocks of the tile have written
  };

  /// Doubles at `partial`.
  static size_t partial_sums(const NormTiles& t) { return size_t{t.tiles} * t.chunks * kColumns * t.lanes; }

  /// The phases of a kernel that sums. add_rows() begins with clear() and adds as often as there is
  /// something; finish(channel, first sum, second sum) is called for the tile's channels.
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

  /// A short run of fp32 sums joins the thread's own in double, and begins anew.
  TRAINYARD_HD static void add(unsigned thread, Shared& shared, float (&first)[kWide<T>], float (&second)[kWide<T>]) {
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) {
      shared.sums[v * kBlockThreads + thread] += static_cast<double>(first[v]);
      shared.sums[(kWide<T> + v) * kBlockThreads + thread] += static_cast<double>(second[v]);
      first[v] = second[v] = 0;
    }
  }

 private:
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
    if (thread == 0) shared.last = take_ticket(tickets + block % tiles.tiles) + 1 == tiles.chunks ? 1U : 0U;
  }

  /// In the last block, sums over every groups()-th chunk: [groups, width], where the block's own
  /// sums were.
  TRAINYARD_HD void gather(unsigned block, unsigned thread, Shared& shared) const {
    if (shared.last == 0) return;
    const unsigned width = kColumns * tiles.lanes;
    const unsigned pair = thread % (width / 2);
    const unsigned group = thread / (width / 2);
    if (group >= groups()) return;
    TwoSums sums{0, 0};
    const double* from = chunk_of(block % tiles.tiles, group) + 2 * size_t{pair};
    const size_t stride = size_t{groups()} * width;
    unsigned chunk = group;
    constexpr unsigned kAtOnce = 8;
    for (; chunk + (kAtOnce - 1) * groups() < tiles.chunks; chunk += kAtOnce * groups()) {
      TwoSums more[kAtOnce];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kAtOnce; ++i) more[i] = load_fresh(from + i * stride);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kAtOnce; ++i) {
        sums.first += more[i].first;
        sums.second += more[i].second;
      }
      from += kAtOnce * stride;
    }
    for (; chunk < tiles.chunks; chunk += groups(), from += stride) {
      const TwoSums more = load_fresh(from);
      sums.first += more.first;
      sums.second += more.second;
    }
    shared.sums[group * width + 2 * pair] = sums.first;
    shared.sums[group * width + 2 * pair + 1] = sums.second;
  }

  /// In the last block, calls finish(channel, first sum, second sum) for the tile's channels.
  template <class Finish>
  TRAINYARD_HD void finish(unsigned block, unsigned thread, const Shared& shared, const Finish& finish) const {
    if (shared.last == 0) return;
    if (thread == 0) tickets[block % tiles.tiles] = 0;
    const unsigned lane = thread / kWide<T>;
    const unsigned v = thread % kWide<T>;
    const unsigned channel = (block % tiles.tiles * tiles.lanes + lane) * kWide<T> + v;
    if (lane >= tiles.lanes || channel >= tiles.channels) return;
    const unsigned width = kColumns * tiles.lanes;
    double first = 0;
    double second = 0;
    for (unsigned group = 0; group < groups(); ++group) {
      first += shared.sums[group * width + v * tiles.lanes + lane];
      second += shared.sums[group * width + (kWide<T> + v) * tiles.lanes + lane];
    }
    finish(channel, first, second);
  }

  TRAINYARD_HD unsigned groups() const { return kBlockThreads / (kColumns * tiles.lanes / 2); }
  TRAINYARD_HD double* chunk_of(unsigned tile, unsigned chunk) const {
    return partial + (size_t{tile} * tiles.chunks + chunk) * kColumns * tiles.lanes;
  }
};

}  // namespace trainyard::cuda
