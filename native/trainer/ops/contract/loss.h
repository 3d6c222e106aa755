// Softmax and cross entropy, as every back end offers them.
#pragma once
#include <cstdint>

namespace trainyard {

/// The classes of a batch's images, on the host.
struct BatchLabels {
  const int32_t* labels = nullptr;  ///< [count]
  int count = 0;
  /// [count], of images that are mixtures of two; nullptr: of one class each
  const int32_t* others = nullptr;
  float share = 1;  ///< of `labels` in each mixture; `others` have the rest
};

struct LossResult {
  double loss_sum = 0;  ///< of the cross entropy with the targets, over the images
  int64_t top1 = 0;     ///< images whose label has the largest logit (the lower class wins a draw)
  int64_t top5 = 0;     ///< images whose label is among the five largest
};

/// Three calls a batch, so that run() alone is among the ops and neither asks nor tells the host
/// anything.
class SoftmaxCrossEntropyOp {
 public:
  virtual ~SoftmaxCrossEntropyOp() = default;
  /// Takes the labels of the images that run() will see; the host may use their memory again at
  /// once. Throws Error(Exit::data) when one is not of the classes. A run() that was recorded is
  /// good for other labels and another share, but not for mixtures in place of single classes or
  /// the other way round.
  virtual void take_labels(const BatchLabels& batch) = 0;
  /// logits: [count, classes], plain. Targets are (1 - smoothing) * onehot + smoothing / classes
  /// (Szegedy et al. 2016, arXiv:1512.00567, section 7, as PyTorch's label_smoothing); the loss of
  /// an image is -sum(target * log(softmax(logits))). Of a mixture, onehot is share *
  /// onehot(label) + (1 - share) * onehot(other). With `dlogits` (which may be logits) it also
  /// writes (softmax - target) * scale. An image whose logits are not numbers is never counted as
  /// right.
  virtual void run(const void* logits, void* dlogits, float scale, float smoothing) = 0;
  /// Of the last run(), for which it waits.
  virtual LossResult result() = 0;
};

}  // namespace trainyard
