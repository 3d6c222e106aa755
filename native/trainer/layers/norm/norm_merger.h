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
  /// By the batch norm's plan_backward(): the merge is made. The batch norm gives the convolution its
  /// own gradient, which stays as it is until the convolution's backward() has run.
  virtual void plan_merge(Planner& planner) = 0;
  /// By the batch norm's backward(): what its constants follow from.
  virtual BatchNormOp::Merging multiply_pixels(const Run& run) = 0;
  /// By the batch norm's backward(), once it knows them: the gradient of the weights, and the
  /// factors of the data gradient.
  virtual void merge(const Run& run, const MergedNorm& norm) = 0;
};

}  // namespace trainyard
