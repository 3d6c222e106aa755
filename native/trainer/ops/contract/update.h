// An optimizer's update of all weights at once, for back ends whose memory the host cannot walk
// over.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/optim/optimizer.h"

namespace trainyard {

struct UpdateParams {
  OptimizerOptions optimizer;
  std::vector<ParameterRange> ranges;  ///< the tensors: rising, touching one another, from 0 on; decay filled in
};

/// Every pointer is to the whole arena, [the ranges' elements] of fp32 in the back end's memory,
/// 16-byte aligned.
/// The same bits each time; the formulas are those of the optimizers on the host
/// (trainer/optim/*_math.h).
class UpdateOp {
 public:
  virtual ~UpdateOp() = default;
  /// Update `number` (from 1) in place. first, second: what the optimizer remembers, in the order
  /// of its state().
  virtual void run(float* weights, const float* gradients, float* first, float* second, float lr, int64_t number) = 0;
  /// The sum of the squares, in double: a finite number exactly when all of them are. Waits for it.
  virtual double squared_length(const float* values) = 0;
  virtual void scale(float* values, float factor) = 0;
  /// sums[0, count) becomes the values, or with `more` those added to what it was. Of any part of
  /// an arena.
  virtual void add(float* sums, const float* values, size_t count, bool more) = 0;
};

}  // namespace trainyard
