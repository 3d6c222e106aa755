// Weights between the order of the parameters and that of NHWC convolutions, through shared memory,
// so that both sides are read and written in long rows.
#pragma once
#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

/// Elements that a block takes at once: a filter of 512 channels and 3x3 pixels.
inline constexpr unsigned kRepackElements = 4608;

/// A convolution's weights: [out, in, window] as parameters, [out, window, in] packed, or [in, out].
struct RepackShape {
  unsigned out, in, window;
};

/// What one block takes: whole filters, or some channels of one filter.
struct RepackPart {
  unsigned filter, filters;
  unsigned channel, channels;

  /// How many parts a shape has.
  static unsigned count(const RepackShape& s) {
    const unsigned filter = s.in * s.window;
    if (filter > kRepackElements) return s.out * ((s.in + channels_at_once(s) - 1) / channels_at_once(s));
    const unsigned filters = kRepackElements / filter;
    return (s.out + filters - 1) / filters;
  }

  TRAINYARD_HD static RepackPart of(const RepackShape& s, unsigned part) {
    const unsigned filter = s.in * s.window;
    if (filter > kRepackElements) {
      const unsigned at_once = channels_at_once(s);
      const unsigned parts = (s.in + at_once - 1) / at_once;
      const unsigned channel = part % parts * at_once;
      return {part / parts, 1, channel, s.in - channel < at_once ? s.in - channel : at_once};
    }
    const unsigned filters = kRepackElements / filter;
    const unsigned first = part * filters;
    return {first, s.out - first < filters ? s.out - first : filters, 0, s.in};
  }

 private:
  TRAINYARD_HD static unsigned channels_at_once(const RepackShape& s) {
    const unsigned wide = 8;  // so that rows of 16 bits begin at 16 bytes
    return kRepackElements / s.window / wide * wide;
  }
};

/// The fp32 side of a part, in shared memory: [filters, channels, window].
struct RepackShared {
  alignas(16) float at[kRepackElements];
};

/// Between shared memory and the parameters' order, where a part is one contiguous row. Calls
/// wide(element) for four elements from there on and one(element) for single ones.
template <class WideBody, class Body>
TRAINYARD_HD void walk_row(const float* row, unsigned count, unsigned thread, const WideBody& wide, const Body& one) {
  const bool aligned = reinterpret_cast<uintptr_t>(row) % 16 == 0;
  const unsigned vectors = aligned ? count / kWide<float> : 0;
  for (unsigned i = thread; i < vectors; i += kBlockThreads) wide(i * kWide<float>);
  for (unsigned i = vectors * kWide<float> + thread; i < count; i += kBlockThreads) one(i);
}

/// Between shared memory and the packed order: rows of [filters, window] with the part's channels.
template <class T, class WideBody, class Body>
TRAINYARD_HD void walk_packed(const RepackShape& s, const RepackPart& p, const T* packed, unsigned thread,
                              const WideBody& wide, const Body& one) {
  const bool aligned =
      s.in % kWide<T> == 0 && p.channels % kWide<T> == 0 && reinterpret_cast<uintptr_t>(packed) % 16 == 0;
  const unsigned step = aligned ? kWide<T> : 1;
  const unsigned columns = p.channels / step;
  const unsigned count = p.filters * s.window * columns;
  for (unsigned i = thread; i < count; i += kBlockThreads) {
    const unsigned row = i / columns;  // filter * window + place
    const unsigned channel = i % columns * step;
    const unsigned filter = row / s.window;
    const size_t to = (size_t{p.filter} * s.window + row) * s.in + p.channel + channel;
    const unsigned from = (filter * p.channels + channel) * s.window + row % s.window;
    aligned ? wide(to, from) : one(to, from);
  }
}

/// One convolution of a table of them.
struct PackJob {
  RepackShape shape;
  unsigned type;        // 0 fp32, 1 bf16, 2 fp16
  unsigned first_part;  // of all parts, in the jobs' order
  size_t from;          // elements from the arena's begin
  void* to;             // [out, window, in], 16-byte aligned
  bool transposed;      // to: [in, out]; of a window of one pixel
};

/// Packs the weights of all convolutions of a network in one launch. A block for each part.
struct PackAll {
  static constexpr int kPhases = 2;
  static constexpr unsigned kResident = 4;
  using Shared = RepackShared;
  struct Thread {
    RepackPart part;
    unsigned job;
  };

  const float* weights;   // the arena
  const PackJob* jobs;    // [jobs]
  const unsigned* owner;  // [parts] the job of each part

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread& kept, Shared& shared) const {
    if constexpr (phase == 0) {
      kept.job = owner[block];
      const PackJob& job = jobs[kept.job];
      kept.part = RepackPart::of(job.shape, block - job.first_part);
      const RepackPart& p = kept.part;
      const float* row = weights + job.from + (size_t{p.filter} * job.shape.in + p.channel) * job.shape.window;
      walk_row(
          row, p.filters * p.channels * job.shape.window, thread,
          [&](unsigned i) { store_wide(shared.at + i, load_wide(row + i)); },
          [&](unsigned i) { shared.at[i] = row[i]; });
    } else {
      const PackJob& job = jobs[kept.job];
      if (job.transposed) return transpose(job, kept.part, thread, shared);
      if (job.type == 0) put<float>(job, kept.part, thread, shared);
      if (job.type == 1) put<BFloat16>(job, kept.part, thread, shared);
      if (job.type == 2) put<Float16>(job, kept.part, thread, shared);
    }
  }

 private:
  TRAINYARD_HD static void transpose(const PackJob& job, const RepackPart& part, unsigned thread,
                                     const Shared& shared) {
    const unsigned first = part.channel * job.shape.out + part.filter;
    for (unsigned i = thread; i < part.filters * part.channels; i += kBlockThreads) {
      const unsigned filter = i % part.filters;
      const unsigned channel = i / part.filters;
      const unsigned to = first + channel * job.shape.out + filter;
      const float value = shared.at[filter * part.channels + channel];
      if (job.type == 0) static_cast<float*>(job.to)[to] = value;
      if (job.type == 1) static_cast<BFloat16*>(job.to)[to] = static_cast<BFloat16>(value);
      if (job.type == 2) static_cast<Float16*>(job.to)[to] = static_cast<Float16>(value);
    }
  }

  template <class T>
  TRAINYARD_HD static void put(const PackJob& job, const RepackPart& part, unsigned thread, const Shared& shared) {
    T* packed = static_cast<T*>(job.to);
    const unsigned window = job.shape.window;
    walk_packed(
        job.shape, part, packed, thread,
        [&](size_t to, unsigned from) {
          float row[kWide<T>];
          TRAINYARD_UNROLL
          for (unsigned v = 0; v < kWide<T>; ++v) row[v] = shared.at[from + v * window];
          store_wide(packed + to, Wide<T>::of(row));
        },
        [&](size_t to, unsigned from) { packed[to] = static_cast<T>(shared.at[from]); });
  }
};

/// The gradient of one convolution's weights, from the packed order to that of the parameters. A
/// block for each part.
template <class T>
struct Unpack {
  static constexpr int kPhases = 2;
  static constexpr unsigned kResident = 4;
  using Shared = RepackShared;
  struct Thread {};

  RepackShape shape;
  const T* packed;  // [out, window, in], 16-byte aligned
  float* to;        // [out, in, window]

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    const RepackPart part = RepackPart::of(shape, block);
    if constexpr (phase == 0) {
      walk_packed(
          shape, part, packed, thread,
          [&](size_t from, unsigned at) {
            const Wide<T> in = load_wide(packed + from);
            TRAINYARD_UNROLL
            for (unsigned v = 0; v < kWide<T>; ++v) shared.at[at + v * shape.window] = in[v];
          },
          [&](size_t from, unsigned at) { shared.at[at] = static_cast<float>(packed[from]); });
    } else {
      float* row = to + (size_t{part.filter} * shape.in + part.channel) * shape.window;
      walk_row(
          row, part.filters * part.channels * shape.window, thread,
          [&](unsigned i) { store_wide(row + i, load_wide(shared.at + i)); },
          [&](unsigned i) { row[i] = shared.at[i]; });
    }
  }
};

}  // namespace trainyard::cuda
