// The demonstration set must need a network: a linear classifier on its pixels must fail.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "support.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {
namespace {

constexpr int kSide = 32;
constexpr size_t kFeatures = kSide * kSide * 3;
constexpr size_t kClasses = 5;

struct Samples {
  std::vector<float> pixels;  ///< [count, kFeatures], 0 to 1
  std::vector<int32_t> labels;
};

Samples load(const std::string& spec) {
  const auto data = open_dataset(spec, kSide);
  LoaderOptions options;
  options.image_size = kSide;
  options.batch = static_cast<int>(data->size());
  options.shuffle = false;
  options.augment = Augment::none;
  const Batch batch = take(*data, options, 0, 1)[0];
  Samples samples{{}, batch.labels};
  for (const uint8_t value : batch.images) samples.pixels.push_back(static_cast<float>(value) / 255.0F);
  return samples;
}

/// Softmax regression on standardised features, by gradient descent on small batches.
class LinearClassifier {
 public:
  void train(Samples samples, int epochs) {
    constexpr size_t kBatch = 32;
    constexpr float kRate = 0.03F;
    standardise_by(samples);
    apply(samples);
    weights_.assign(kClasses * kFeatures, 0);
    std::vector<size_t> order(samples.labels.size());
    std::iota(order.begin(), order.end(), 0U);
    Random random({1});
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const float rate = kRate * static_cast<float>(epochs - epoch) / static_cast<float>(epochs);
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      for (size_t begin = 0; begin + kBatch <= order.size(); begin += kBatch) {
        std::array<std::array<float, kClasses>, kBatch> errors{};
        for (size_t k = 0; k < kBatch; ++k) errors[k] = error(samples, order[begin + k]);
        for (size_t k = 0; k < kBatch; ++k) {
          const float* x = samples.pixels.data() + order[begin + k] * kFeatures;
          for (size_t c = 0; c < kClasses; ++c) {
            const float step = rate / static_cast<float>(kBatch) * errors[k][c];
            float* w = weights_.data() + c * kFeatures;
            for (size_t f = 0; f < kFeatures; ++f) w[f] -= step * x[f];
          }
        }
      }
    }
  }

  double accuracy(Samples samples) const {
    apply(samples);
    size_t right = 0;
    for (size_t i = 0; i < samples.labels.size(); ++i) {
      const auto scores = score(samples.pixels.data() + i * kFeatures);
      const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
      right += best == samples.labels[i] ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(samples.labels.size());
  }

 private:
  /// The loss's derivative by the scores: what softmax says less what is true.
  std::array<float, kClasses> error(const Samples& samples, size_t i) const {
    auto scores = score(samples.pixels.data() + i * kFeatures);
    const float most = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (float& s : scores) sum += s = std::exp(s - most);
    for (float& s : scores) s /= sum;
    scores[static_cast<size_t>(samples.labels[i])] -= 1;
    return scores;
  }

  void standardise_by(const Samples& samples) {
    const auto count = static_cast<float>(samples.labels.size());
    mean_.assign(kFeatures, 0);
    scale_.assign(kFeatures, 0);
    for (size_t i = 0; i < samples.pixels.size(); ++i) mean_[i % kFeatures] += samples.pixels[i] / count;
    for (size_t i = 0; i < samples.pixels.size(); ++i) {
      const float d = samples.pixels[i] - mean_[i % kFeatures];
      scale_[i % kFeatures] += d * d / count;
    }
    for (float& s : scale_) s = 1 / std::sqrt(s + 1e-6F);
  }

  void apply(Samples& samples) const {
    for (size_t i = 0; i < samples.pixels.size(); ++i) {
      samples.pixels[i] = (samples.pixels[i] - mean_[i % kFeatures]) * scale_[i % kFeatures];
    }
  }

  std::array<float, kClasses> score(const float* x) const {
    std::array<float, kClasses> scores{};
    for (size_t c = 0; c < kClasses; ++c) {
      std::array<float, 8> sums{};
      const float* w = weights_.data() + c * kFeatures;
      for (size_t f = 0; f < kFeatures; f += 8) {
        for (size_t k = 0; k < 8; ++k) sums[k] += w[f + k] * x[f + k];
      }
      for (const float s : sums) scores[c] += s;
    }
    return scores;
  }

  std::vector<float> mean_;
  std::vector<float> scale_;
  std::vector<float> weights_;  ///< [kClasses, kFeatures]
};

TEST(Difficulty, a_linear_classifier_fails_on_the_demonstration_set) {
  const TemporaryFolder folder;
  PrepOptions options;
  options.from = "demo:5x400";
  options.to = folder.path() + "/demo";
  prep(options);
  const Samples train = load(folder.path() + "/demo/train");
  const Samples validation = load(folder.path() + "/demo/validation");
  ASSERT_EQ(train.labels.size(), 1600U);
  ASSERT_EQ(validation.labels.size(), 400U);
  LinearClassifier classifier;
  classifier.train(train, 60);
  // It learns its own images by heart, so it is the set that is hard and not the classifier that is
  // broken.
  EXPECT_GT(classifier.accuracy(train), 0.9);
  const double accuracy = classifier.accuracy(validation);
  RecordProperty("validation_top1", std::to_string(accuracy));
  EXPECT_LT(accuracy, 0.5);
}

TEST(Difficulty, the_same_classifier_does_well_on_an_easy_set) {
  const Samples all = load("synthetic:5x32");
  Samples train;
  Samples validation;
  for (size_t i = 0; i < 1000; ++i) {
    Samples& part = i < 600 ? train : validation;
    const auto begin = all.pixels.begin() + static_cast<ptrdiff_t>(i * kFeatures);
    part.pixels.insert(part.pixels.end(), begin, begin + kFeatures);
    part.labels.push_back(all.labels[i]);
  }
  LinearClassifier classifier;
  classifier.train(train, 20);
  EXPECT_GT(classifier.accuracy(validation), 0.95);
}

}  // namespace
}  // namespace trainyard
