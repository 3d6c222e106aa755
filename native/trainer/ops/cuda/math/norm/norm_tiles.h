// How batch norm's kernels share out [rows, channels]: a block takes some rows of a tile of
// neighbouring channels. The shares depend on the shape and the number of blocks asked for, and so do
// the bits of sums.
#pragma once
#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

/// Unsigned because kernels count with 32 bits.
struct NormTiles {
  unsigned rows, channels;
  unsigned lanes;   ///< neighbouring threads of a row, each with one Wide of channels
  unsigned tiles;   ///< of the channels
  unsigned across;  ///< rows that a block reads at once
  unsigned chunks;  ///< of the rows; a block takes one chunk of one tile
  unsigned depth;   ///< rows of a chunk, a multiple of `across`; the last chunk may have fewer

  /// For about `blocks` blocks of at most `most_lanes` lanes (32). channels: a multiple of `wide`.
  static NormTiles of(unsigned rows, unsigned channels, unsigned wide, unsigned blocks, unsigned most_lanes) {
    const unsigned vectors = channels / wide;
    NormTiles t{};
    t.rows = rows;
    t.channels = channels;
    t.tiles = (vectors + most_lanes - 1) / most_lanes;
    t.lanes = (vectors + t.tiles - 1) / t.tiles;
    t.across = kBlockThreads / t.lanes;
    const unsigned groups = (rows + t.across - 1) / t.across;
    const unsigned wanted = blocks / t.tiles > 1 ? blocks / t.tiles : 1;
    const unsigned chunks = wanted < groups ? wanted : groups;
    t.depth = (groups + chunks - 1) / chunks * t.across;
    t.chunks = (rows + t.depth - 1) / t.depth;
    return t;
  }

  unsigned blocks() const { return tiles * chunks; }
};

/// A count known to the compiler.
template <unsigned n>
struct Count {};

/// Calls body(Count<n>) until the counts add up to `left`: kFew at a time as long as there are so
/// many, and the rest by halves. What a body loads is under way together.
template <unsigned kFew, class Body>
TRAINYARD_HD void by_halves(unsigned left, const Body& body) {
  if constexpr (kFew > 0) {
    TRAINYARD_KEEP_LOOP
    for (; left >= kFew; left -= kFew) body(Count<kFew>());
    by_halves<kFew / 2>(left, body);
  }
}

/// One thread's share of a block's rows.
template <class T>
struct NormShare {
  unsigned tile, chunk;  ///< of the block
  unsigned lane, first;  ///< of the thread: its Wide in the tile, and its first row in the chunk
  unsigned channel;      ///< the first of the thread's channels
  bool active;           ///< false for threads behind the last row or channel

  TRAINYARD_HD static NormShare of(const NormTiles& t, unsigned block, unsigned thread) {
    NormShare s;
    s.tile = block % t.tiles;
    s.chunk = block / t.tiles;
    s.lane = thread % t.lanes;
    s.first = thread / t.lanes;
    s.channel = (s.tile * t.lanes + s.lane) * kWide<T>;
    s.active = s.first < t.across && s.channel < t.channels;
    return s;
  }

  /// Calls body(Count<n>, row) for the thread's rows: n rows, `across` apart, kRows at a time as
  /// long as there are so many, then one.
  template <unsigned kRows, class Body>
  TRAINYARD_HD void each_row(const NormTiles& t, const Body& body) const {
    if (!active) return;
    const unsigned begin = chunk * t.depth;
    const unsigned end = t.rows - begin < t.depth ? t.rows : begin + t.depth;
    unsigned row = begin + first;
    for (; row < end && end - row > (kRows - 1) * t.across; row += kRows * t.across) body(Count<kRows>(), row);
    for (; row < end; row += t.across) body(Count<1>(), row);
  }
};

/// The thread's numbers of n rows that are `stride` elements apart. All loads are under way before
/// the first is used.
template <class T, unsigned n>
struct Rows {
  Wide<T> at[n];

  TRAINYARD_HD static Rows load(const T* from, size_t stride) {
    Rows rows;
    TRAINYARD_UNROLL
    for (unsigned i = 0; i < n; ++i) rows.at[i] = load_wide(from + i * stride);
    return rows;
  }
};

}  // namespace trainyard::cuda
