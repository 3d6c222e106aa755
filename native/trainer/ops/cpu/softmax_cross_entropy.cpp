// Softmax and cross entropy in double: the numbers are few, and the loss is what people look at.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

/// How many classes come before the label: larger logits, and equal ones of a lower class. All of
/// them when something is not a number.
int rank_of(const float* logits, int classes, int label) {
  const float own = logits[label];
  int before = 0;
  for (int c = 0; c < classes; ++c) {
    if (c == label) continue;
    const bool behind = logits[c] < own || (logits[c] == own && c > label);
    if (!behind) ++before;
  }
  return std::isnan(own) ? classes : before;
}

class CpuSoftmaxCrossEntropy final : public SoftmaxCrossEntropyOp {
 public:
  explicit CpuSoftmaxCrossEntropy(int classes) : classes_(classes) {}

  void take_labels(const BatchLabels& batch) override {
    take(batch.labels, batch.count, labels_);
    take(batch.others, batch.others != nullptr ? batch.count : 0, others_);
    share_ = double{batch.share};
  }

  void run(const void* logits, void* dlogits, float scale, float smoothing) override {
    LossResult result;
    const double own = 1.0 - double{smoothing};
    const bool mixed = !others_.empty();
    const double minor = mixed ? own * (1.0 - share_) : 0.0;
    const double major = mixed ? own * share_ : own;
    const double each = double{smoothing} / classes_;
    for (size_t n = 0; n < labels_.size(); ++n) {
      const size_t offset = n * static_cast<size_t>(classes_);
      const float* z = static_cast<const float*>(logits) + offset;
      const int label = labels_[n];
      const int other = mixed ? others_[n] : label;
      const int rank = rank_of(z, classes_, label);
      result.top1 += rank < 1 ? 1 : 0;
      result.top5 += rank < 5 ? 1 : 0;
      const double largest = *std::max_element(z, z + classes_);
      double sum = 0;
      for (int c = 0; c < classes_; ++c) sum += std::exp(z[c] - largest);
      const double log_sum = std::log(sum);
      result.loss_sum += own * (log_sum - (z[label] - largest));
      // Their logarithms differ by the logits alone.
      if (mixed) result.loss_sum += minor * (double{z[label]} - double{z[other]});
      if (smoothing > 0) {
        double rest = 0;
        for (int c = 0; c < classes_; ++c) rest += log_sum - (z[c] - largest);
        result.loss_sum += each * rest;
      }
      if (dlogits == nullptr) continue;
      float* dz = static_cast<float*>(dlogits) + offset;
      for (int c = 0; c < classes_; ++c) {
        const double probability = std::exp(z[c] - largest) / sum;
        const double target = (c == label ? major : 0.0) + (c == other ? minor : 0.0);
        dz[c] = static_cast<float>((probability - each - target) * double{scale});
      }
    }
    result_ = result;
  }

  LossResult result() override { return result_; }

 private:
  void take(const int32_t* labels, int count, std::vector<int32_t>& taken) const {
    for (int n = 0; n < count; ++n) {
      if (labels[n] >= 0 && labels[n] < classes_) continue;
      throw Error(Exit::data, "Image " + std::to_string(n) + " of a batch has label " + std::to_string(labels[n]) +
                                  ", but the model has " + std::to_string(classes_) +
                                  " classes. Train on the data the model was made for.");
    }
    taken.assign(labels, labels + count);
  }

  int classes_;
  std::vector<int32_t> labels_;
  std::vector<int32_t> others_;  ///< empty: no mixtures
  double share_ = 1;
  LossResult result_;
};

}  // namespace

std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes) {
  return std::make_unique<CpuSoftmaxCrossEntropy>(classes);
}

}  // namespace trainyard::cpu
