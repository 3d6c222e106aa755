// Optimizers over the whole arena: one launch for all tensors, whose decay and rate each element
// looks up.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"
#include "trainer/optim/adam_math.h"
#include "trainer/optim/lars_math.h"
#include "trainer/optim/sgd_math.h"

namespace trainyard::cuda {

/// One tensor of the arena.
struct TensorRange {
  unsigned end;    ///< behind its last element
  unsigned adapt;  ///< LARS gives it a rate of its own
  float decay;
};

/// Elements that share an entry of `first`.
inline constexpr unsigned kRangeEntry = 256;

struct RangeTable {
  const TensorRange* ranges;
  const unsigned* first;  // [elements / kRangeEntry, rounded up] the range of the entry's first element

  TRAINYARD_HD unsigned of(unsigned i) const {
    unsigned range = first[i / kRangeEntry];
    while (i >= ranges[range].end) ++range;
    return range;
  }
};

/// Index = element.
struct SgdUpdate {
  RangeTable table;
  float* w;
  float* v;
  const float* g;
  float lr, momentum;

  TRAINYARD_HD void operator()(unsigned i) const {
    sgd_update(w[i], v[i], g[i], lr, momentum, table.ranges[table.of(i)].decay);
  }
};

/// Index = element.
struct AdamUpdate {
  RangeTable table;
  float* w;
  float* m;
  float* v;
  const float* g;
  AdamStep step;

  TRAINYARD_HD void operator()(unsigned i) const {
    adam_update(w[i], m[i], v[i], g[i], table.ranges[table.of(i)].decay, step);
  }
};

/// Index = element.
struct LarsUpdate {
  RangeTable table;
  float* w;
  float* v;
  const float* g;
  const float* rates;  // [ranges]
  float momentum;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned range = table.of(i);
    lars_update(w[i], v[i], g[i], rates[range], momentum, table.ranges[range].decay);
  }
};

/// Index = range. Each tensor's rate from its lengths.
struct LarsRates {
  const TensorRange* ranges;
  const double* weights;    // [ranges] squared lengths
  const double* gradients;  // [ranges]
  float* rates;
  double lr, trust, decay;

  TRAINYARD_HD void operator()(unsigned r) const {
    double rate = lr;
    if (ranges[r].adapt != 0) {
      const double own = ranges[r].decay != 0.0F ? decay : 0.0;
      rate *= lars_ratio(sqrt(weights[r]), sqrt(gradients[r]), trust, own);
    }
    rates[r] = static_cast<float>(rate);
  }
};

/// A part of one tensor whose squares are summed together, by kLanes threads that take every
/// kLanes-th element.
struct SumBlock {
  unsigned begin, end;
};
inline constexpr unsigned kLanes = 32;

/// Index = block * kLanes + lane.
struct BlockSquares {
  const SumBlock* blocks;
  const float* values;
  double* sums;  // [blocks, kLanes]

  TRAINYARD_HD void operator()(unsigned index) const {
    const SumBlock block = blocks[index / kLanes];
    double sum = 0;
    for (unsigned i = block.begin + index % kLanes; i < block.end; i += kLanes) {
      const double value = values[i];
      sum += value * value;
    }
    sums[index] = sum;
  }
};

/// Index = block.
struct FoldLanes {
  const double* sums;  // [blocks, kLanes]
  double* folded;      // [blocks]

  TRAINYARD_HD void operator()(unsigned block) const {
    double sum = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) sum += sums[static_cast<size_t>(block) * kLanes + lane];
    folded[block] = sum;
  }
};

/// Index = range. The blocks of range r are those from starts[r] on, up to starts[r + 1].
struct FoldBlocks {
  const double* folded;    // [blocks]
  const unsigned* starts;  // [ranges + 1]
  double* lengths;         // [ranges]

  TRAINYARD_HD void operator()(unsigned r) const {
    double sum = 0;
    for (unsigned block = starts[r]; block < starts[r + 1]; ++block) sum += folded[block];
    lengths[r] = sum;
  }
};

/// Index = element.
struct AddUp {
  float* sums;
  const float* values;
  bool more;
  TRAINYARD_HD void operator()(unsigned i) const { sums[i] = more ? sums[i] + values[i] : values[i]; }
};

/// Index = element.
struct Scale {
  float* values;
  float factor;
  TRAINYARD_HD void operator()(unsigned i) const { values[i] *= factor; }
};

}  // namespace trainyard::cuda
