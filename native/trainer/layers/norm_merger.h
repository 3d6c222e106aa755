// What a batch norm asks of the convolution before it, where that takes the batch norm's gradient
// into its own (MergedNorm).
#pragma once
#include "trainer/layers/layer.h"
#include "trainer/ops/contract/batch_norm.h"

namespace trainyard {

/// The convolution's stage. The batch norm decides, when it is planned backward.
class NormMerger {
 public:
  virtual ~NormMerger() = default;
  /// By the batch norm's plan_backward(): the merge is made, of the gradient at `g`, which is given to
  /// the convolution as it is.
  virtual void plan_merge(Planner& planner, Slot g) = 0;
  /// By the batch norm's backward(), before it knows its constants and afterwards.
  virtual BatchNormOp::Merging multiply_pixels(const Run& run) = 0;
  virtual void merge(const Run& run, const MergedNorm& norm) = 0;
};

}  // namespace trainyard
