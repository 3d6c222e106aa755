#include "trainer/data/pixels/resize.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/pixels/augment.h"

namespace trainyard {
namespace {

/// The definition, in doubles, pixel by pixel: the mean of all input pixels weighted by a triangle
/// around the output pixel's centre.
double reference(const Image& image, const Rect& from, int width, int height, int x, int y, int channel) {
  const double step_x = static_cast<double>(from.width) / width;
  const double step_y = static_cast<double>(from.height) / height;
  const auto weight = [](double distance, double step) {
    return std::max(0.0, 1 - std::abs(distance) / std::max(step, 1.0));
  };
  double sum = 0;
  double total = 0;
  for (int j = 0; j < from.height; ++j) {
    for (int i = 0; i < from.width; ++i) {
      const double w = weight(i + 0.5 - (x + 0.5) * step_x, step_x) * weight(j + 0.5 - (y + 0.5) * step_y, step_y);
      const auto at = static_cast<size_t>(((from.y + j) * image.width + from.x + i) * 3 + channel);
      sum += w * image.pixels[at];
      total += w;
    }
  }
  return sum / total;
}

void expect_reference(const Image& image, const View& view) {
  const auto count = static_cast<size_t>(view.window.width) * static_cast<size_t>(view.window.height) * 3;
  std::vector<uint8_t> out(count);
  Resizer().resize(image, view, out.data());
  double worst = 0;
  for (int y = 0; y < view.window.height; ++y) {
    for (int x = 0; x < view.window.width; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        const int column = view.flip ? view.window.width - 1 - x : x;
        const double wanted =
            reference(image, view.from, view.width, view.height, view.window.x + x, view.window.y + y, channel);
        const auto at = static_cast<size_t>((y * view.window.width + column) * 3 + channel);
        worst = std::max(worst, std::abs(out[at] - wanted));
      }
    }
  }
  EXPECT_LT(worst, 0.51) << view.from.width << "x" << view.from.height << " to " << view.width << "x" << view.height;
}

TEST(Resize, agrees_with_the_definition) {
  const Image image = sample_image(53, 41, 1);
  const Rect whole{0, 0, 53, 41};
  for (const auto& [width, height] :
       {std::pair{53, 41}, {44, 38}, {35, 41}, {20, 16}, {7, 5}, {1, 1}, {90, 77}, {30, 80}}) {
    expect_reference(image, {whole, width, height, {0, 0, width, height}, false});
    expect_reference(image, {whole, width, height, {0, 0, width, height}, true});
  }
}

TEST(Resize, a_part_is_resized_as_if_nothing_were_around_it_and_a_window_as_if_all_were) {
  const Image image = sample_image(60, 50, 2);
  expect_reference(image, {{11, 7, 31, 29}, 16, 16, {0, 0, 16, 16}, false});
  expect_reference(image, {{0, 0, 60, 50}, 36, 30, {3, 5, 24, 20}, true});
  expect_reference(image, {{59, 49, 1, 1}, 8, 8, {2, 2, 5, 5}, false});
}

TEST(Resize, the_same_size_changes_nothing) {
  const Image image = sample_image(33, 21, 3);
  std::vector<uint8_t> out(image.pixels.size());
  Resizer().resize(image, {{0, 0, 33, 21}, 33, 21, {0, 0, 33, 21}, false}, out.data());
  EXPECT_EQ(out, image.pixels);
}

TEST(Resize, an_image_shrunk_by_the_decoder_shows_the_same_view) {
  // Smooth waves, so that only a shift or a stretch could make a difference. 500 / 8 and 375 / 8
  // leave rests.
  Image drawn{500, 375, {}};
  for (int y = 0; y < 375; ++y) {
    for (int x = 0; x < 500; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        drawn.pixels.push_back(static_cast<uint8_t>(128 + 100 * std::sin(0.02 * x + channel) * std::cos(0.02 * y)));
      }
    }
  }
  const std::string bytes = encode_jpeg(drawn, 95);
  for (const View& view : {View{{0, 0, 500, 375}, 49, 37, {8, 2, 32, 32}, false},
                           View{{101, 57, 377, 299}, 32, 32, {0, 0, 32, 32}, true}}) {
    std::vector<uint8_t> expected(32 * 32 * 3);
    std::vector<uint8_t> out(expected.size());
    Resizer().resize(drawn, view, expected.data());
    for (const int side : {188, 94, 47}) {
      JpegDecoder decoder;
      Image image;
      decoder.decode(bytes, side, image);
      ASSERT_EQ(image.height, side);
      Resizer().resize(image, view, out.data());
      double sum = 0;
      for (size_t i = 0; i < out.size(); ++i) sum += std::abs(out[i] - expected[i]);
      EXPECT_LT(sum / static_cast<double>(out.size()), 1.0) << side;
    }
  }
}

/// Decoding what a view looks at, and shrinking while decoding where there is more than enough, are
/// only faster: the same bytes as of the image decoded whole.
TEST(Resize, a_view_of_a_decoded_part_is_that_of_the_whole) {
  Resizer resizer;
  JpegDecoder decoder;
  for (const auto& [width, height, size] : {std::tuple{500, 375, 224}, {375, 500, 96}, {1100, 640, 128}}) {
    const std::string bytes = encode_jpeg(sample_image(width, height, 5), 90);
    const auto side = [&, s = size](Augment augment) { return shorter_side_needed(augment, s); };
    for (const Augment augment : {Augment::none, Augment::standard}) {
      Image whole;
      decoder.decode(bytes, side(augment), whole);
      for (uint64_t i = 0; i < (augment == Augment::none ? 1U : 20U); ++i) {
        Random random({i});
        const View view = plan_view(augment, size, width, height, random);
        Image part;
        decoder.decode(bytes, side(augment), [&](int, int) { return looked_at(view); }, part);
        ASSERT_LE(part.pixels.size(), whole.pixels.size());
        std::vector<uint8_t> expected(static_cast<size_t>(size) * static_cast<size_t>(size) * 3);
        std::vector<uint8_t> out(expected.size());
        resizer.resize(whole, view, expected.data());
        resizer.resize(part, view, out.data());
        ASSERT_EQ(out, expected) << width << " " << size << " " << i;
      }
    }
  }
}

TEST(Views, evaluation_looks_at_the_centre) {
  Random random({1});
  const View view = plan_view(Augment::none, 224, 500, 375, random);
  EXPECT_EQ(view.height, 256);
  EXPECT_EQ(view.width, 341);
  EXPECT_EQ(view.window.x, 58);
  EXPECT_EQ(view.window.y, 16);
  EXPECT_FALSE(view.flip);
  EXPECT_EQ(plan_view(Augment::none, 32, 64, 64, random).width, 37);
}

TEST(Views, small_images_are_cropped_by_a_little_and_mirrored_half_of_the_time) {
  std::set<std::pair<int, int>> places;
  int flips = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    Random random({i});
    const View view = plan_view(Augment::standard, 32, 64, 64, random);
    ASSERT_EQ(view.width, 36);
    ASSERT_EQ(view.height, 36);
    ASSERT_EQ(view.window.width, 32);
    places.insert({view.window.x, view.window.y});
    flips += view.flip ? 1 : 0;
  }
  EXPECT_EQ(places.size(), 25U);
  EXPECT_NEAR(flips, 500, 60);
}

TEST(Views, large_images_are_cropped_by_area_and_ratio) {
  double smallest = 1;
  double largest = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    Random random({i, 7});
    const View view = plan_view(Augment::standard, 224, 500, 375, random);
    ASSERT_EQ(view.width, 224);
    ASSERT_GE(std::min(view.from.x, view.from.y), 0);
    ASSERT_LE(view.from.x + view.from.width, 500);
    ASSERT_LE(view.from.y + view.from.height, 375);
    const double ratio = static_cast<double>(view.from.width) / view.from.height;
    ASSERT_GT(ratio, 0.74);
    ASSERT_LT(ratio, 1.35);
    const double area = static_cast<double>(view.from.width) * view.from.height / (500.0 * 375.0);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
  }
  EXPECT_NEAR(smallest, 0.08, 0.01);
  EXPECT_GT(largest, 0.9);
}

TEST(Views, every_shape_of_image_has_one) {
  Resizer resizer;
  for (const auto augment : {Augment::none, Augment::standard}) {
    for (const auto& [size, width, height] :
         {std::tuple{32, 1, 1}, {32, 2, 3000}, {32, 3000, 2}, {96, 1, 1}, {96, 1, 3000}, {96, 3000, 2}, {1, 5, 5}}) {
      const Image image = sample_image(width, height, 4);
      for (uint64_t i = 0; i < 20; ++i) {
        Random random({i});
        const View view = plan_view(augment, size, width, height, random);
        std::vector<uint8_t> out(static_cast<size_t>(size) * static_cast<size_t>(size) * 3);
        resizer.resize(image, view, out.data());
        ASSERT_LE(view.window.x + size, view.width);
        ASSERT_LE(view.window.y + size, view.height);
      }
    }
  }
}

}  // namespace
}  // namespace trainyard
