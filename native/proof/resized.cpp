#include "proof/resized.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace trainyard::proof {

namespace {

/// The weights of `extent` inputs for one of `outputs`.
std::vector<double> weights(int extent, int outputs, int output) {
  const double step = static_cast<double>(extent) / outputs;
  std::vector<double> made(static_cast<size_t>(extent));
  double sum = 0;
  for (int i = 0; i < extent; ++i) {
    const double weight = std::max(0.0, 1 - std::abs(i + 0.5 - (output + 0.5) * step) / std::max(step, 1.0));
    made[static_cast<size_t>(i)] = weight;
    sum += weight;
  }
  for (double& weight : made) weight /= sum;
  return made;
}

}  // namespace

std::vector<double> resized(const std::vector<uint8_t>& pixels, int width, const View& view) {
  std::vector<double> out;
  for (int y = 0; y < view.window.height; ++y) {
    const std::vector<double> down = weights(view.from.height, view.height, view.window.y + y);
    for (int x = 0; x < view.window.width; ++x) {
      const int seen = view.flip ? view.window.width - 1 - x : x;
      const std::vector<double> across = weights(view.from.width, view.width, view.window.x + seen);
      for (size_t channel = 0; channel < 3; ++channel) {
        double sum = 0;
        for (size_t row = 0; row < down.size(); ++row) {
          for (size_t column = 0; column < across.size(); ++column) {
            const size_t at = (static_cast<size_t>(view.from.y) + row) * static_cast<size_t>(width) +
                              static_cast<size_t>(view.from.x) + column;
            sum += down[row] * across[column] * pixels[at * 3 + channel];
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

}  // namespace trainyard::proof
