// TrivialAugment's operations against Pillow's (scripts/oracle/trivial_augment.py), and what is
// drawn.
#include "trainer/data/pixels/trivial_augment.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "support.h"
#include "trainer/data/images/png.h"
#include "trainer/data/source.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> names = {"identity",  "shear_x",    "shear_y",       "translate_x", "translate_y",
                                        "rotate",    "brightness", "color",         "contrast",    "sharpness",
                                        "posterize", "solarize",   "auto_contrast", "equalize"};

Image picture(const fs::path& path) {
  Image image;
  decode_png(bytes_of(path), image);
  return image;
}

class OfAPicture : public testing::TestWithParam<std::string> {};

TEST_P(OfAPicture, every_operation_has_pillows_bits) {
  const fs::path fixtures = TRAINYARD_FIXTURES;
  const Image before = picture(fixtures / "views" / GetParam());
  const Image expected = picture(fixtures / "pixel_ops" / GetParam());
  const int size = before.full_width();
  std::ifstream cases(fixtures / "pixel_ops/cases.txt");
  std::set<std::string> seen;
  PixelChanger changer;
  std::string name;
  double magnitude = 0;
  for (size_t index = 0; cases >> name >> magnitude; ++index) {
    const auto op = std::find(names.begin(), names.end(), name);
    ASSERT_NE(op, names.end()) << name;
    std::vector<uint8_t> pixels = before.pixels;
    changer.apply({static_cast<PixelOp>(op - names.begin()), magnitude}, size, pixels.data());
    const auto* from = expected.pixels.data() + index * before.pixels.size();
    const std::vector<uint8_t> right(from, from + before.pixels.size());
    const auto [different, most] = difference(pixels, right);
    const bool sheared = name.starts_with("shear");
    EXPECT_LE(different, sheared ? static_cast<int>(pixels.size() / 200) : 0) << name << " " << magnitude;
    EXPECT_LE(most, sheared ? 1 : 0) << name << " " << magnitude;
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), names.size());
}

INSTANTIATE_TEST_SUITE_P(PixelOps, OfAPicture, testing::Values("photo.jpg@64.png", "odd.png@75.png"));

TEST(PixelChange, IsDrawnAlikeFromAllOperationsAndMagnitudes) {
  Random random({1, 2});
  std::map<PixelOp, std::map<double, int>> counts;
  constexpr int draws = 140'000;
  for (int i = 0; i < draws; ++i) {
    const PixelChange change = draw_pixel_change(random);
    ++counts[change.op][change.magnitude];
  }
  ASSERT_EQ(counts.size(), size_t{pixel_ops});
  const std::map<PixelOp, std::array<double, 3>> ranges = {
      // smallest, largest, how many
      {PixelOp::identity, {0, 0, 1}},           {PixelOp::shear_x, {-0.99, 0.99, 61}},
      {PixelOp::shear_y, {-0.99, 0.99, 61}},    {PixelOp::translate_x, {-32, 32, 61}},
      {PixelOp::translate_y, {-32, 32, 61}},    {PixelOp::rotate, {-135, 135, 61}},
      {PixelOp::brightness, {-0.99, 0.99, 61}}, {PixelOp::color, {-0.99, 0.99, 61}},
      {PixelOp::contrast, {-0.99, 0.99, 61}},   {PixelOp::sharpness, {-0.99, 0.99, 61}},
      {PixelOp::posterize, {2, 8, 7}},          {PixelOp::solarize, {0, 255, 31}},
      {PixelOp::auto_contrast, {0, 0, 1}},      {PixelOp::equalize, {0, 0, 1}},
  };
  for (const auto& [op, magnitudes] : counts) {
    int times = 0;
    for (const auto& [magnitude, count] : magnitudes) times += count;
    EXPECT_NEAR(times, draws / pixel_ops, 500) << names[static_cast<size_t>(op)];
    const auto [low, high, most] = ranges.at(op);
    EXPECT_DOUBLE_EQ(magnitudes.begin()->first, low) << names[static_cast<size_t>(op)];
    EXPECT_DOUBLE_EQ(magnitudes.rbegin()->first, high) << names[static_cast<size_t>(op)];
    EXPECT_EQ(magnitudes.size(), static_cast<size_t>(most)) << names[static_cast<size_t>(op)];
  }
}

TEST(RandomErasing, ErasesOnePartSoOften) {
  constexpr int size = 60;
  Random random({3});
  int erased = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint8_t> pixels(size_t{size} * size * 3, 7);
    erase_randomly(0.25, size, random, pixels.data());
    int left = size, right = -1, top = size, bottom = -1, changed = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const uint8_t* pixel = pixels.data() + (size_t{1} * y * size + x) * 3;
        if (pixel[0] == 7) continue;
        ASSERT_THAT(std::vector<int>(pixel, pixel + 3), testing::ElementsAre(124, 116, 104));
        left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y);
        ++changed;
      }
    }
    if (changed == 0) continue;
    ++erased;
    const int width = right - left + 1;
    const int height = bottom - top + 1;
    ASSERT_EQ(changed, width * height);  // a rectangle
    ASSERT_NEAR(changed, size * size * 0.175, size * size * 0.165);
    ASSERT_GT(static_cast<double>(height) / width, 0.26);
    ASSERT_LT(static_cast<double>(height) / width, 3.8);
  }
  EXPECT_NEAR(erased, 500, 60);
}

/// The training pixels of all images of a folder at one epoch.
std::vector<uint8_t> seen(const Dataset& data, Augment augment, double erasing, int threads, int64_t step) {
  LoaderOptions options;
  options.image_size = 48;
  options.batch = static_cast<int>(data.size());
  options.augment = augment;
  options.random_erasing = erasing;
  options.threads = threads;
  return take(data, options, step, 1).front().images;
}

TEST(TrivialAugment, IsAFunctionOfSeedEpochAndImage) {
  const TemporaryFolder folder;
  const std::string photo = bytes_of(fs::path(TRAINYARD_FIXTURES) / "views/photo.jpg");
  for (int i = 0; i < 6; ++i) folder.write("a/" + std::to_string(i) + ".jpg", photo);
  const auto data = open_dataset(folder.path(), 48);
  const auto trivial = seen(*data, Augment::trivial, 0.5, 1, 3);
  EXPECT_EQ(trivial, seen(*data, Augment::trivial, 0.5, 3, 3));
  EXPECT_NE(trivial, seen(*data, Augment::trivial, 0.5, 1, 4));
  EXPECT_NE(trivial, seen(*data, Augment::trivial, 0, 1, 3));
  EXPECT_NE(seen(*data, Augment::trivial, 0, 1, 3), seen(*data, Augment::standard, 0, 1, 3));
}

}  // namespace
}  // namespace trainyard
