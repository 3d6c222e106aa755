// A GPU's view of a decoded image beside the host's.
#include "trainer/data/pixels/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include "trainer/base/random.h"
#include "trainer/data/pixels/augment.h"
#include "trainer/ops/cuda/launch.h"
#include "trainer/ops/cuda/math/resize.h"

namespace trainyard {
namespace {

/// Noise, which no filter is kind to.
Image noise(int width, int height, uint64_t seed) {
  Image image{width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)};
  Random random({seed});
  for (uint8_t& value : image.pixels) value = static_cast<uint8_t>(random.below(256));
  return image;
}

class ResizeView : public testing::Test {
 protected:
  void TearDown() override {
    const double share = static_cast<double>(equal_) / static_cast<double>(std::max<size_t>(values_, 1));
    std::cout << equal_ << " of " << values_ << " bytes are the host's, " << share << '\n';
    // Weights are floats on both sides: what differs lies within their rounding of a half, of which
    // small sizes have many.
    EXPECT_GT(share, 0.995);
  }

  void compare(const Image& image, const View& view) {
    const size_t count = static_cast<size_t>(view.window.width) * static_cast<size_t>(view.window.height) * 3;
    std::vector<uint8_t> expected(count);
    std::vector<uint8_t> out(count);
    Resizer().resize(image, view, expected.data());
    each(cuda::Launcher{}, count, cuda::ResizeView::of(image.pixels.data(), image.width, view, out.data()));
    int worst = 0;
    for (size_t i = 0; i < count; ++i) {
      worst = std::max(worst, std::abs(out[i] - expected[i]));
      equal_ += out[i] == expected[i] ? 1 : 0;
    }
    values_ += count;
    EXPECT_LE(worst, 1) << image.width << "x" << image.height << ", from " << view.from.x << "," << view.from.y << " "
                        << view.from.width << "x" << view.from.height << " to " << view.width << "x" << view.height;
  }

 private:
  size_t values_ = 0, equal_ = 0;
};

TEST_F(ResizeView, AgreesAtEverySizeAndMirrored) {
  const Image image = noise(53, 41, 1);
  constexpr std::array<std::pair<int, int>, 10> kSizes{
      {{53, 41}, {44, 38}, {35, 41}, {20, 16}, {7, 5}, {1, 1}, {90, 77}, {30, 80}, {53, 1}, {1, 41}}};
  for (const auto& [width, height] : kSizes) {
    for (const bool flip : {false, true}) compare(image, {{0, 0, 53, 41}, width, height, {0, 0, width, height}, flip});
  }
}

TEST_F(ResizeView, AgreesOnPartsAtEveryEdgeAndOnWindows) {
  const Image image = noise(60, 50, 2);
  for (const Rect& from : {Rect{0, 0, 31, 29},
                           {29, 0, 31, 29},
                           {0, 21, 31, 29},
                           {29, 21, 31, 29},
                           {11, 7, 31, 29},
                           {59, 49, 1, 1},
                           {0, 49, 60, 1},
                           {59, 0, 1, 50}}) {
    compare(image, {from, 16, 16, {0, 0, 16, 16}, false});
    compare(image, {from, 36, 30, {3, 5, 24, 20}, true});
  }
}

TEST_F(ResizeView, AgreesOnTheViewsOfTraining) {
  constexpr std::array<std::pair<int, int>, 7> kSizes{
      {{500, 375}, {375, 500}, {64, 64}, {1, 1}, {1, 900}, {900, 1}, {1300, 700}}};
  for (const auto& [width, height] : kSizes) {
    const Image image = noise(width, height, 3);
    for (const Augment augment : {Augment::none, Augment::standard}) {
      for (const int size : {32, 96, 224}) {
        for (uint64_t i = 0; i < (augment == Augment::none ? 1U : 6U); ++i) {
          Random random({i, 9});
          compare(image, plan_view(augment, size, width, height, random));
        }
      }
    }
  }
}

/// Weights of floats must hold where the image is far larger than a float counts halves of.
TEST_F(ResizeView, AgreesFarFromTheBeginning) {
  const Image image = noise(90'000, 3, 4);
  compare(image, {{80'001, 0, 9'999, 3}, 224, 224, {0, 0, 224, 224}, false});
  compare(image, {{0, 0, 90'000, 3}, 224, 3, {0, 0, 224, 3}, true});
}

TEST_F(ResizeView, TheSameSizeChangesNothing) {
  const Image image = noise(33, 21, 5);
  std::vector<uint8_t> out(image.pixels.size());
  const View view{{0, 0, 33, 21}, 33, 21, {0, 0, 33, 21}, false};
  each(cuda::Launcher{}, out.size(), cuda::ResizeView::of(image.pixels.data(), 33, view, out.data()));
  EXPECT_EQ(out, image.pixels);
  compare(image, view);
}

}  // namespace
}  // namespace trainyard
