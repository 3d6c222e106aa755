// Batches and steps that the model tests share.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cpu_features.h"
#include "trainer/base/random.h"
#include "trainer/models/network.h"

namespace trainyard::test {

/// Images of random bytes with random labels, the same for the same seed.
struct RandomBatch {
  RandomBatch(int count_, int size_, int classes, uint64_t seed) : count(count_), size(size_) {
    Random random{seed};
    images.resize(static_cast<size_t>(count) * size * size * 3);
    for (auto& byte : images) byte = static_cast<uint8_t>(random.below(256));
    for (int i = 0; i < count; ++i) labels.push_back(static_cast<int32_t>(random.below(classes)));
  }
  BatchView view() const { return {count, size, images.data(), labels.data()}; }
  /// Images [begin, begin + many).
  BatchView part(int begin, int many) const {
    return {many, size, images.data() + static_cast<size_t>(begin) * size * size * 3, labels.data() + begin};
  }

  /// The same images as mixtures: each has a share of its own label, and the rest of another one's.
  BatchView mixed(const std::vector<int32_t>& others, float share) const {
    BatchView mixtures = view();
    mixtures.other_labels = others.data();
    mixtures.share = share;
    return mixtures;
  }

  int count;
  int size;
  std::vector<uint8_t> images;  // [count, size, size, 3]
  std::vector<int32_t> labels;  // [count]
};

/// With AVX-512 alone the CPU back end computes in bf16, and sums in lanes as PyTorch did for the
/// fixtures.
inline constexpr const char* kNeedsAvx512 = "this processor has no AVX-512";
inline bool has_avx512() { return cpu_features().avx512; }

/// |a - b| / |b|, by norm.
inline double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double length = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    length += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / length);
}

/// Plain gradient descent, without momentum or decay.
inline void descend(Network& network, float rate) {
  const auto weights = network.weights();
  const auto gradients = network.gradients();
  for (size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradients[i];
  network.weights_changed();
}

inline std::unique_ptr<Network> network(const char* model, int classes, int size, int batch, uint64_t seed = 1,
                                        Precision precision = Precision::fp32) {
  NetworkOptions options;
  options.model = model;
  options.classes = classes;
  options.image_size = size;
  options.batch = batch;
  options.seed = seed;
  options.precision = precision;
  return make_network(options);
}

}  // namespace trainyard::test
