// Softmax and cross entropy: the device gives one loss and one rank per image, the host adds them
// up in order.
#include <algorithm>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/softmax.h"

namespace trainyard::cuda {

namespace {

constexpr unsigned kMostParts = 32;
constexpr size_t kLabelsAtOnce = 16384;  // as many as send() takes

class CudaSoftmaxCrossEntropy final : public SoftmaxCrossEntropyOp {
 public:
  CudaSoftmaxCrossEntropy(const Device& device, int classes)
      : device_(device), classes_(static_cast<unsigned>(classes)), parts_(std::min(classes_, kMostParts)) {}

  void take_labels(const BatchLabels& batch) override {
    check(batch.labels, batch.count);
    count_ = static_cast<size_t>(batch.count);
    reserve(count_);
    send(labels_, batch.labels);
    mixed_ = batch.others != nullptr;
    if (!mixed_) return;
    check(batch.others, batch.count);
    reserve_mixture(count_);
    send(others_, batch.others);
    device_.memory->send(share_, &batch.share, sizeof(batch.share));
  }

  void run(const void* logits, void* dlogits, float scale, float smoothing) override {
    const size_t images = count_;
    const SoftmaxShape shape{static_cast<const float*>(logits), labels_, classes_, parts_, double{smoothing}};
    const Launcher& launcher = device_.launcher;
    each(launcher, images * parts_, SoftmaxLargest{shape, largest_, before_});
    each(launcher, images * parts_, SoftmaxSums{shape, largest_, sums_, shifted_});
    const SoftmaxLoss loss{shape, largest_, sums_, shifted_, before_, folded_, loss_};
    const SoftmaxGradient gradient{shape, folded_, static_cast<float*>(dlogits), scale};
    const SoftmaxMixture mixture{others_, share_};
    if (mixed_) {
      each(launcher, images, SoftmaxMixedLoss{loss, mixture});
      if (dlogits != nullptr) each(launcher, images * classes_, SoftmaxMixedGradient{gradient, mixture});
    } else {
      each(launcher, images, loss);
      if (dlogits != nullptr) each(launcher, images * classes_, gradient);
    }
  }

  LossResult result() override {
    std::vector<ImageLoss> losses(count_);
    device_.memory->to_host(losses.data(), loss_, count_ * sizeof(ImageLoss));
    LossResult result;
    for (const ImageLoss& image : losses) {
      result.loss_sum += image.loss;
      result.top1 += image.before < 1 ? 1 : 0;
      result.top5 += image.before < 5 ? 1 : 0;
    }
    return result;
  }

 private:
  void check(const int32_t* labels, int count) const {
    for (int n = 0; n < count; ++n) {
      if (labels[n] >= 0 && labels[n] < static_cast<int>(classes_)) continue;
      device_.fail(static_cast<int>(Exit::data), "Image " + std::to_string(n) + " of a batch has label " +
                                                     std::to_string(labels[n]) + ", but the model has " +
                                                     std::to_string(classes_) +
                                                     " classes. Train on the data the model was made for.");
    }
  }

  void send(int32_t* memory, const int32_t* labels) {
    for (size_t at = 0; at < count_; at += kLabelsAtOnce) {
      device_.memory->send(memory + at, labels + at, std::min(count_ - at, kLabelsAtOnce) * sizeof(int32_t));
    }
  }

  /// Apart, as most trainings mix nothing.
  void reserve_mixture(size_t images) {
    if (images <= mixtures_) return;
    mixture_memory_ = device_.memory->allocate(sizeof(float) + images * sizeof(int32_t));
    share_ = reinterpret_cast<float*>(mixture_memory_->data());
    others_ = reinterpret_cast<int32_t*>(share_ + 1);
    mixtures_ = images;
  }

  void reserve(size_t images) {
    if (images <= images_) return;
    const size_t parts = images * parts_;
    const size_t doubles = 3 * parts + 2 * images;
    memory_ = device_.memory->allocate(doubles * sizeof(double) + images * sizeof(ImageLoss) +
                                       (parts + images) * sizeof(int32_t));
    largest_ = reinterpret_cast<double*>(memory_->data());
    sums_ = largest_ + parts;
    shifted_ = sums_ + parts;
    folded_ = shifted_ + parts;
    loss_ = reinterpret_cast<ImageLoss*>(folded_ + 2 * images);
    before_ = reinterpret_cast<int32_t*>(loss_ + images);
    labels_ = before_ + parts;
    images_ = images;
  }

  const Device& device_;
  unsigned classes_, parts_;
  size_t images_ = 0;  // that there is room for
  size_t count_ = 0;   // that labels were taken of
  std::unique_ptr<BackendMemory> memory_;
  double* largest_ = nullptr;  // [images, parts]
  double* sums_ = nullptr;     // [images, parts]
  double* shifted_ = nullptr;  // [images, parts]
  double* folded_ = nullptr;   // [images, 2]
  ImageLoss* loss_ = nullptr;  // [images]
  int32_t* before_ = nullptr;  // [images, parts]
  int32_t* labels_ = nullptr;  // [images]
  bool mixed_ = false;         // the batch's images are mixtures
  size_t mixtures_ = 0;        // that there is room for
  std::unique_ptr<BackendMemory> mixture_memory_;
  float* share_ = nullptr;     // [1]
  int32_t* others_ = nullptr;  // [mixtures]
};

}  // namespace

std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(const Device& device, int classes) {
  return std::make_unique<CudaSoftmaxCrossEntropy>(device, classes);
}

}  // namespace trainyard::cuda
