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

/// A part of one tensor whose squares are summed together.
struct SumBlock {
  unsigned begin, end;
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
