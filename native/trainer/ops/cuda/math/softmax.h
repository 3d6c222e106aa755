// Softmax and cross entropy in double, in parts of an image's classes so that a batch fills the
// device.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// What the host adds up, one per image.
struct ImageLoss {
  double loss;      ///< cross entropy of softmax(logits) with the smoothed target
  int32_t before;   ///< classes that come before the label; all of them when something is not a number
  int32_t padding;  ///< so that both compilers agree on the size
};

struct SoftmaxShape {
  const float* logits;    // [count, classes]
  const int32_t* labels;  // [count]
  unsigned classes;
  unsigned parts;  // of an image's classes: part p has the classes p, p + parts, …
  double smoothing;
};

/// Index = image * parts + part. The part's largest logit, and how many of its classes come before
/// the label.
struct SoftmaxLargest {
  SoftmaxShape s;
  double* largest;  // [count, parts]
  int32_t* before;  // [count, parts]

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned n = i / s.parts;
    const float* z = s.logits + static_cast<size_t>(n) * s.classes;
    const unsigned label = static_cast<unsigned>(s.labels[n]);
    const float own = z[label];
    double most = -HUGE_VAL;
    int32_t count = 0;
    for (unsigned c = i % s.parts; c < s.classes; c += s.parts) {
      if (static_cast<double>(z[c]) > most) most = static_cast<double>(z[c]);
      // Written so that a logit that is not a number counts as one that comes before.
      const bool behind = z[c] < own || (z[c] == own && c >= label);
      count += behind ? 0 : 1;
    }
    largest[i] = most;
    before[i] = count;
  }
};

TRAINYARD_HD double largest_of(const double* parts, unsigned count) {
  double most = parts[0];
  for (unsigned p = 1; p < count; ++p) most = parts[p] > most ? parts[p] : most;
  return most;
}

/// Index = image * parts + part. The part's sums of exp(logit - largest) and of logit - largest.
struct SoftmaxSums {
  SoftmaxShape s;
  const double* largest;  // [count, parts]
  double* sums;           // [count, parts]
  double* shifted;        // [count, parts]

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned n = i / s.parts;
    const float* z = s.logits + static_cast<size_t>(n) * s.classes;
    const double most = largest_of(largest + static_cast<size_t>(n) * s.parts, s.parts);
    double sum = 0;
    double all = 0;
    for (unsigned c = i % s.parts; c < s.classes; c += s.parts) {
      const double below = static_cast<double>(z[c]) - most;
      sum += exp(below);
      all += below;
    }
    sums[i] = sum;
    shifted[i] = all;
  }
};

/// Index = image. Folds the parts; `largest` and `sum` of the image then stand in `folded`.
struct SoftmaxLoss {
  SoftmaxShape s;
  const double* largest;
  const double* sums;
  const double* shifted;
  const int32_t* before;
  double* folded;   // [count, 2]
  ImageLoss* loss;  // [count]

  TRAINYARD_HD void operator()(unsigned n) const {
    const size_t first = static_cast<size_t>(n) * s.parts;
    const double most = largest_of(largest + first, s.parts);
    double sum = 0;
    double all = 0;
    int32_t count = 0;
    for (unsigned p = 0; p < s.parts; ++p) {
      sum += sums[first + p];
      all += shifted[first + p];
      count += before[first + p];
    }
    const float own = s.logits[static_cast<size_t>(n) * s.classes + static_cast<unsigned>(s.labels[n])];
    folded[2 * static_cast<size_t>(n)] = most;
    folded[2 * static_cast<size_t>(n) + 1] = sum;
    const double log_sum = log(sum);
    double value = (1.0 - s.smoothing) * (log_sum - (static_cast<double>(own) - most));
    if (s.smoothing > 0) value += s.smoothing / s.classes * (s.classes * log_sum - all);
    loss[n] = {value, own == own ? count : static_cast<int32_t>(s.classes), 0};
  }
};

/// Index = element of the logits. (softmax - smoothed target) * scale; dlogits may be the logits.
struct SoftmaxGradient {
  SoftmaxShape s;
  const double* folded;  // [count, 2]
  float* dlogits;
  float scale;

  TRAINYARD_HD void operator()(unsigned i) const {
    const unsigned n = i / s.classes;
    const unsigned c = i % s.classes;
    const double probability = exp(static_cast<double>(s.logits[i]) - folded[2 * static_cast<size_t>(n)]) /
                               folded[2 * static_cast<size_t>(n) + 1];
    const double onehot = c == static_cast<unsigned>(s.labels[n]) ? 1.0 : 0.0;
    const double target = (1.0 - s.smoothing) * onehot + s.smoothing / s.classes;
    dlogits[i] = static_cast<float>((probability - target) * static_cast<double>(scale));
  }
};

/// What makes images mixtures of two classes: in the device's memory, as it is another in every
/// batch.
struct SoftmaxMixture {
  const int32_t* others;  // [count]
  const float* share;     // [1]: of the label in each image; the other class has the rest
};

/// Index = image. What SoftmaxLoss gives, for a target that the label shares with another class.
struct SoftmaxMixedLoss {
  SoftmaxLoss plain;
  SoftmaxMixture mixture;

  TRAINYARD_HD void operator()(unsigned n) const {
    plain(n);
    const SoftmaxShape& s = plain.s;
    const float* z = s.logits + static_cast<size_t>(n) * s.classes;
    const double own = static_cast<double>(z[static_cast<unsigned>(s.labels[n])]);
    const double other = static_cast<double>(z[static_cast<unsigned>(mixture.others[n])]);
    const double rest = 1.0 - static_cast<double>(*mixture.share);
    // Their logarithms differ by the logits alone.
    plain.loss[n].loss += (1.0 - s.smoothing) * rest * (own - other);
  }
};

/// Index = element of the logits. What SoftmaxGradient gives, for such a target.
struct SoftmaxMixedGradient {
  SoftmaxGradient plain;
  SoftmaxMixture mixture;

  TRAINYARD_HD void operator()(unsigned i) const {
    const SoftmaxShape& s = plain.s;
    const unsigned n = i / s.classes;
    const unsigned c = i % s.classes;
    const double* folded = plain.folded + 2 * static_cast<size_t>(n);
    const double probability = exp(static_cast<double>(s.logits[i]) - folded[0]) / folded[1];
    const double share = static_cast<double>(*mixture.share);
    const double onehot = (c == static_cast<unsigned>(s.labels[n]) ? share : 0.0) +
                          (c == static_cast<unsigned>(mixture.others[n]) ? 1.0 - share : 0.0);
    const double target = (1.0 - s.smoothing) * onehot + s.smoothing / s.classes;
    plain.dlogits[i] = static_cast<float>((probability - target) * static_cast<double>(plain.scale));
  }
};

}  // namespace trainyard::cuda
