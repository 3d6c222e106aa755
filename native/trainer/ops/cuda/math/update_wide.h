// Optimizers and sums over an arena of fp32, 16 bytes at once: the bits of update.h.
#pragma once
#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/math/update.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

// What an optimizer does with one weight of tensor `range`: for UpdateWide. kStates: how much it
// remembers of each weight.
struct SgdRule {
  static constexpr int kStates = 1;
  float lr, momentum;
  TRAINYARD_HD void operator()(float& w, float& v, float&, float g, float decay, unsigned) const {
    sgd_update(w, v, g, lr, momentum, decay);
  }
};
struct AdamRule {
  static constexpr int kStates = 2;
  AdamStep step;
  TRAINYARD_HD void operator()(float& w, float& m, float& v, float g, float decay, unsigned) const {
    adam_update(w, m, v, g, decay, step);
  }
};
struct AdamwRule {
  static constexpr int kStates = 2;
  AdamStep step;
  float lr;
  TRAINYARD_HD void operator()(float& w, float& m, float& v, float g, float decay, unsigned) const {
    adamw_update(w, m, v, g, decay, lr, step);
  }
};
struct LarsRule {
  static constexpr int kStates = 1;
  const float* rates;  // [ranges]
  float momentum;
  TRAINYARD_HD void operator()(float& w, float& v, float&, float g, float decay, unsigned range) const {
    lars_update(w, v, g, rates[range], momentum, decay);
  }
};

/// Index = four elements; the last index has fewer where four do not divide `count`.
template <class Rule>
struct UpdateWide {
  RangeTable table;
  unsigned count;
  float* w;  // [count], as all arrays here, 16-byte aligned
  const float* g;
  float* first;
  float* second;  // read only with two states
  Rule rule;

  TRAINYARD_HD void operator()(unsigned index) const {
    constexpr unsigned n = kWide<float>;
    const unsigned begin = index * n;
    unsigned range = table.of(begin);
    if (count - begin < n || begin + n > table.ranges[range].end) return one_by_one(begin, range);
    const float decay = table.ranges[range].decay;
    const Wide<float> gradients = load_wide(g + begin);
    Wide<float> weights = load_wide(w + begin);
    Wide<float> a = load_wide(first + begin);
    Wide<float> b = a;
    if constexpr (Rule::kStates > 1) b = load_wide(second + begin);
    TRAINYARD_UNROLL
    for (unsigned i = 0; i < n; ++i) rule(weights.at[i], a.at[i], b.at[i], gradients.at[i], decay, range);
    store_wide(w + begin, weights);
    store_wide(first + begin, a);
    if constexpr (Rule::kStates > 1) store_wide(second + begin, b);
  }

 private:
  /// Where a tensor ends among them.
  TRAINYARD_HD void one_by_one(unsigned begin, unsigned range) const {
    for (unsigned i = begin; i < count && i < begin + kWide<float>; ++i) {
      while (i >= table.ranges[range].end) ++range;
      float none = 0;
      float& b = Rule::kStates > 1 ? second[i] : none;
      rule(w[i], first[i], b, g[i], table.ranges[range].decay, range);
    }
  }
};

/// Index = four elements.
struct AddUpWide {
  float* sums;
  const float* values;
  bool more;
  TRAINYARD_HD void operator()(unsigned index) const {
    const size_t at = size_t{index} * kWide<float>;
    Wide<float> out = load_wide(values + at);
    if (more) {
      const Wide<float> before = load_wide(sums + at);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kWide<float>; ++i) out.at[i] = before.at[i] + out.at[i];
    }
    store_wide(sums + at, out);
  }
};

/// Index = four elements.
struct ScaleWide {
  float* values;
  float factor;
  TRAINYARD_HD void operator()(unsigned index) const {
    const size_t at = size_t{index} * kWide<float>;
    Wide<float> out = load_wide(values + at);
    TRAINYARD_UNROLL
    for (unsigned i = 0; i < kWide<float>; ++i) out.at[i] *= factor;
    store_wide(values + at, out);
  }
};

/// The threads' sums of a block become one, by halves, in shared memory: the last nine phases of a
/// kernel. `phase`: from 0.
static_assert(kBlockThreads == 256);
struct HalvedSum {
  static constexpr int kPhases = 9;
  double at[kBlockThreads];

  /// In phase 8 thread 0 has the sum in at[0].
  template <int phase>
  TRAINYARD_HD void run(unsigned thread) {
    if constexpr (phase > 0) {
      constexpr unsigned half = kBlockThreads >> phase;
      if (thread < half) at[thread] += at[thread + half];
    }
  }
};

/// Squares of a part of one tensor, summed in double. A block for each part.
struct PartSquares {
  static constexpr int kPhases = HalvedSum::kPhases;
  static constexpr unsigned kResident = 4;
  using Shared = HalvedSum;
  struct Thread {};

  const SumBlock* parts;  // [parts]
  const float* values;    // 16-byte aligned
  double* sums;           // [parts]

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    if constexpr (phase == 0) shared.at[thread] = squares(parts[block], thread);
    shared.template run<phase>(thread);
    if constexpr (phase == kPhases - 1) {
      if (thread == 0) sums[block] = shared.at[0];
    }
  }

 private:
  TRAINYARD_HD static void add(double& sum, float value) {
    sum = fma(static_cast<double>(value), static_cast<double>(value), sum);  // the square is exact either way
  }

  TRAINYARD_HD double squares(const SumBlock& part, unsigned thread) const {
    constexpr unsigned n = kWide<float>;
    constexpr unsigned kAtOnce = 4;
    // The part's first and last elements may share their 16 bytes with another part.
    const unsigned first = (part.begin + n - 1) / n;
    const unsigned last = part.end / n;
    double sum = 0;
    if (first >= last) {
      for (unsigned i = part.begin + thread; i < part.end; i += kBlockThreads) add(sum, values[i]);
      return sum;
    }
    if (part.begin + thread < first * n) add(sum, values[part.begin + thread]);
    unsigned at = first + thread;
    for (; at + (kAtOnce - 1) * kBlockThreads < last; at += kAtOnce * kBlockThreads) {
      Wide<float> wide[kAtOnce];
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kAtOnce; ++i) wide[i] = load_wide(values + size_t{at + i * kBlockThreads} * n);
      TRAINYARD_UNROLL
      for (unsigned i = 0; i < kAtOnce; ++i) {
        TRAINYARD_UNROLL
        for (unsigned v = 0; v < n; ++v) add(sum, wide[i].at[v]);
      }
    }
    for (; at < last; at += kBlockThreads) {
      const Wide<float> wide = load_wide(values + size_t{at} * n);
      TRAINYARD_UNROLL
      for (unsigned v = 0; v < n; ++v) add(sum, wide.at[v]);
    }
    if (last * n + thread < part.end) add(sum, values[last * n + thread]);
    return sum;
  }
};

/// The parts of range r are those from starts[r] on, up to starts[r + 1]. A block for each range.
struct RangeSums {
  static constexpr int kPhases = HalvedSum::kPhases;
  static constexpr unsigned kResident = 4;
  using Shared = HalvedSum;
  struct Thread {};

  const double* parts;     // [parts]
  const unsigned* starts;  // [ranges + 1]
  double* lengths;         // [ranges]

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    if constexpr (phase == 0) {
      double sum = 0;
      for (unsigned i = starts[block] + thread; i < starts[block + 1]; i += kBlockThreads) sum += parts[i];
      shared.at[thread] = sum;
    }
    shared.template run<phase>(thread);
    if constexpr (phase == kPhases - 1) {
      if (thread == 0) lengths[block] = shared.at[0];
    }
  }
};

}  // namespace trainyard::cuda
