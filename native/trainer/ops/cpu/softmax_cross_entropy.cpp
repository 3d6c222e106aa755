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

  void take_labels(const int32_t* labels, int count) override {
    for (int n = 0; n < count; ++n) {
      if (labels[n] >= 0 && labels[n] < classes_) continue;
      throw Error(Exit::data, "Image " + std::to_string(n) + " of a batch has label " + std::to_string(labels[n]) +
                                  ", but the model has " + std::to_string(classes_) +
                                  " classes. Train on the data the model was made for.");
    }
    labels_.assign(labels, labels + count);
  }

  void run(const void* logits, void* dlogits, float scale, float smoothing) override {
    LossResult result;
    const double own = 1.0 - double{smoothing};
    const double each = double{smoothing} / classes_;
    for (size_t n = 0; n < labels_.size(); ++n) {
      const size_t offset = n * static_cast<size_t>(classes_);
      const float* z = static_cast<const float*>(logits) + offset;
      const int label = labels_[n];
      const int rank = rank_of(z, classes_, label);
      result.top1 += rank < 1 ? 1 : 0;
      result.top5 += rank < 5 ? 1 : 0;
      const double largest = *std::max_element(z, z + classes_);
      double sum = 0;
      for (int c = 0; c < classes_; ++c) sum += std::exp(z[c] - largest);
      const double log_sum = std::log(sum);
      result.loss_sum += own * (log_sum - (z[label] - largest));
      if (smoothing > 0) {
        double rest = 0;
        for (int c = 0; c < classes_; ++c) rest += log_sum - (z[c] - largest);
        result.loss_sum += each * rest;
      }
      if (dlogits == nullptr) continue;
      float* dz = static_cast<float*>(dlogits) + offset;
      for (int c = 0; c < classes_; ++c) {
        const double probability = std::exp(z[c] - largest) / sum;
        dz[c] = static_cast<float>((probability - each - (c == label ? own : 0.0)) * double{scale});
      }
    }
    result_ = result;
  }

  LossResult result() override { return result_; }

 private:
  int classes_;
  std::vector<int32_t> labels_;
  LossResult result_;
};

}  // namespace

std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes) {
  return std::make_unique<CpuSoftmaxCrossEntropy>(classes);
}

}  // namespace trainyard::cpu
