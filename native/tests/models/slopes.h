// Gradients of a whole network against differences of its loss.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tests/models/support.h"

namespace trainyard::test {

inline double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

/// Along a tensor's own gradient the slope is its length, which no error in the others can hide. Of
/// one tensor in `every`.
inline void expect_slopes_of_the_loss(Network& net, const RandomBatch& batch, size_t every = 1) {
  const auto loss = [&] { return net.train_step(batch.view(), 1.0F, nullptr).loss_sum; };
  loss();
  const std::vector<float> gradient(net.gradients().begin(), net.gradients().end());
  const std::vector<float> kept(net.weights().begin(), net.weights().end());
  for (size_t tensor = 0; tensor < net.parameters().size(); tensor += every) {
    const TensorInfo& info = net.parameters()[tensor];
    const auto own = std::span(gradient).subspan(info.offset, info.size);
    const double length = std::sqrt(dot(own, own));
    ASSERT_GT(length, 0) << info.name;
    const auto shifted = [&](double step) {
      for (size_t i = 0; i < info.size; ++i) {
        net.weights()[info.offset + i] = static_cast<float>(kept[info.offset + i] + step * own[i] / length);
      }
      net.weights_changed();
      return loss();
    };
    // A change of the loss by about 0.02 is some 1000 roundings of it; two steps take out the third
    // derivative.
    const double step = std::min(0.01 / length, 0.02);
    const double near = (shifted(step) - shifted(-step)) / (2 * step);
    const double far = (shifted(2 * step) - shifted(-2 * step)) / (4 * step);
    shifted(0);
    // What remains are ReLUs that change their mind within the step.
    EXPECT_NEAR((4 * near - far) / 3, length, 0.03 * length) << info.name;
  }
}

}  // namespace trainyard::test
