#include "trainer/data/pixels/mixing.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "trainer/data/pixels/augment.h"

namespace trainyard {
namespace {

constexpr size_t kChannels = 3;
constexpr uint32_t kWhole = 1U << 16U;  // shares of mixup are counted in parts of it

double johnk(double alpha, Random& random) {
  for (;;) {
    const double x = std::log(1.0 - random.uniform());
    const double y = std::log(1.0 - random.uniform());
    if (std::exp(x / alpha) + std::exp(y / alpha) <= 1.0) return 1.0 / (1.0 + std::exp((y - x) / alpha));
  }
}

double on_a_diameter(double alpha, Random& random) {
  const double radius = std::sqrt(1.0 - std::pow(random.uniform(), 2.0 / (2.0 * alpha - 1.0)));
  return 0.5 + 0.5 * radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

void add(uint32_t own, size_t count, const uint8_t* other, uint8_t* image) {
  const uint32_t rest = kWhole - own;
  for (size_t i = 0; i < count; ++i) {
    image[i] = static_cast<uint8_t>((image[i] * own + other[i] * rest + kWhole / 2) / kWhole);
  }
}

void put(const Rect& box, size_t row, const uint8_t* other, uint8_t* image) {
  const size_t left = static_cast<size_t>(box.x) * kChannels;
  const size_t width = static_cast<size_t>(box.width) * kChannels;
  for (int y = box.y; y < box.y + box.height; ++y) {
    const size_t at = static_cast<size_t>(y) * row + left;
    std::copy_n(other + at, width, image + at);
  }
}

}  // namespace

double draw_beta(double alpha, Random& random) {
  return alpha <= 1 ? johnk(alpha, random) : on_a_diameter(alpha, random);
}

Rect cutmix_box(double lambda, int x, int y, int size) {
  const int half = static_cast<int>(0.5 * std::sqrt(1.0 - lambda) * size);
  const int left = std::max(x - half, 0);
  const int top = std::max(y - half, 0);
  return {left, top, std::min(x + half, size) - left, std::min(y + half, size) - top};
}

Mixture draw_mixture(const Mixing& mixing, int size, Random& random) {
  const bool both = mixing.mixup > 0 && mixing.cutmix > 0;
  Mixture mixture;
  mixture.cut = both ? (random.next() >> 63) != 0 : mixing.cutmix > 0;
  const double lambda = draw_beta(mixture.cut ? mixing.cutmix : mixing.mixup, random);
  if (!mixture.cut) {
    mixture.share = std::nearbyint(lambda * kWhole) / kWhole;
    return mixture;
  }
  const int x = below(random, size);
  const int y = below(random, size);
  mixture.box = cutmix_box(lambda, x, y, size);
  const double area = static_cast<double>(mixture.box.width) * mixture.box.height;
  mixture.share = 1.0 - area / (static_cast<double>(size) * size);
  return mixture;
}

void mix_images(const Mixture& mixture, int count, int size, uint8_t* images) {
  const size_t row = static_cast<size_t>(size) * kChannels;
  const size_t pixels = row * static_cast<size_t>(size);
  const auto own = static_cast<uint32_t>(mixture.share * kWhole);
  if (count < 2) return;
  const auto mix = [&](const uint8_t* other, uint8_t* image) {
    if (mixture.cut) return put(mixture.box, row, other, image);
    add(own, pixels, other, image);
  };
  const auto at = [&](int i) { return images + static_cast<size_t>(i) * pixels; };
  const std::vector<uint8_t> last(at(count - 1), at(count));
  for (int i = count - 1; i > 0; --i) mix(at(i - 1), at(i));
  mix(last.data(), at(0));
}

void mix_batch(const Mixture& mixture, int size, Batch& batch) {
  mix_images(mixture, batch.count, size, batch.images.data());
  batch.other_labels = batch.labels;
  std::rotate(batch.other_labels.rbegin(), batch.other_labels.rbegin() + 1, batch.other_labels.rend());
  const bool less = mixture.share < 0.5;
  if (less) batch.labels.swap(batch.other_labels);
  batch.share = static_cast<float>(less ? 1.0 - mixture.share : mixture.share);
}

}  // namespace trainyard
