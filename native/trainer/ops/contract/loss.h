// Softmax and cross entropy, as every back end offers them.
#pragma once
#include <cstdint>

namespace trainyard {

struct LossResult {
  double loss_sum = 0;  ///< of the cross entropy with the targets, over the images
  int64_t top1 = 0;     ///< images whose label has the largest logit (the lower class wins a draw)
  int64_t top5 = 0;     ///< images whose label is among the five largest
};

class SoftmaxCrossEntropyOp {
 public:
  virtual ~SoftmaxCrossEntropyOp() = default;
  /// logits: [count, classes], plain; labels: [count] on the host. Targets are (1 - smoothing) * onehot + smoothing /
  /// classes (Szegedy et al. 2016, arXiv:1512.00567, section 7, as PyTorch's label_smoothing); the loss of an image is
  /// -sum(target * log(softmax(logits))). With `dlogits` (which may be logits) it also writes (softmax - target) *
  /// scale. An image whose logits are not numbers is never counted as right.
  virtual LossResult run(const void* logits, const int32_t* labels, int count, void* dlogits, float scale,
                         float smoothing) = 0;
};

}  // namespace trainyard
