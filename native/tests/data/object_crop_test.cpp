// Crops that must show an object: what they show, that they follow from seed, epoch and image
// alone, and what records say of boxes.
#include <gmock/gmock.h>

#include <mutex>

#include "common/error.h"
#include "tests/data/records/records_support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/pixels/augment.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kWidth = 500;
constexpr int kHeight = 375;

Rect crop(uint64_t draw, const std::vector<Box>& boxes, double min_covered, int width = kWidth, int height = kHeight) {
  Random random({draw});
  return plan_view(Augment::standard, 224, width, height, random, {.boxes = boxes, .min_covered = min_covered}).from;
}

/// The part of the box, in whole pixels, that a crop shows.
double covered(const Rect& crop, const Box& box, int width = kWidth, int height = kHeight) {
  const auto length = [](int begin, int end) { return std::max(end - begin, 0); };
  const int left = static_cast<int>(box.xmin * static_cast<float>(width));
  const int top = static_cast<int>(box.ymin * static_cast<float>(height));
  const int right = static_cast<int>(box.xmax * static_cast<float>(width));
  const int bottom = static_cast<int>(box.ymax * static_cast<float>(height));
  const double shown = 1.0 * length(std::max(left, crop.x), std::min(right, crop.x + crop.width)) *
                       length(std::max(top, crop.y), std::min(bottom, crop.y + crop.height));
  return shown / (1.0 * (right - left) * (bottom - top));
}

bool same(const Rect& a, const Rect& b) {
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

TEST(ObjectCrops, ShowEnoughOfOneBox) {
  const Box corner{0.02F, 0.03F, 0.2F, 0.3F};
  const Box middle{0.4F, 0.4F, 0.6F, 0.7F};
  for (const double part : {0.1, 0.5, 1.0}) {
    int drawn_again = 0;
    int both = 0;
    for (uint64_t draw = 0; draw < 2000; ++draw) {
      const Rect one = crop(draw, {corner}, part);
      ASSERT_GE(covered(one, corner), part) << draw;
      ASSERT_GE(one.x, 0);
      ASSERT_GE(one.y, 0);
      ASSERT_LE(one.x + one.width, kWidth);
      ASSERT_LE(one.y + one.height, kHeight);
      ASSERT_GE(1.0 * one.width * one.height, 0.079 * kWidth * kHeight);
      const Rect of_two = crop(draw, {corner, middle}, part);
      ASSERT_TRUE(covered(of_two, corner) >= part || covered(of_two, middle) >= part) << draw;
      if (covered(of_two, corner) >= part && covered(of_two, middle) >= part) ++both;
      // The first draw is that of a crop without boxes, and stays where it shows enough.
      const Rect plain = crop(draw, {}, 0);
      const bool enough = covered(plain, corner) >= part;
      ASSERT_EQ(same(one, plain), enough) << draw;
      drawn_again += enough ? 0 : 1;
    }
    EXPECT_GT(drawn_again, 200) << part;
    EXPECT_LT(both, 2000) << part;
  }
}

TEST(ObjectCrops, AreTheWholeImageWhereNoDrawShowsEnough) {
  // Most of the image, which a crop of a ratio of 3/4 to 4/3 cannot show whole.
  for (uint64_t draw = 0; draw < 20; ++draw) {
    EXPECT_TRUE(same(crop(draw, {{0, 0, 1, 1}}, 1, 1000, 100), Rect{0, 0, 1000, 100}));
    // Less than a pixel is shown by no crop, as in TensorFlow's op.
    EXPECT_TRUE(same(crop(draw, {{0.5F, 0.5F, 0.5001F, 0.5001F}}, 0.1), Rect{0, 0, kWidth, kHeight}));
  }
}

TEST(ObjectCrops, AreThoseOfBeforeWithoutBoxesOrFlag) {
  const std::vector<Box> boxes{{0.02F, 0.03F, 0.2F, 0.3F}};
  for (const Augment augment : {Augment::none, Augment::standard, Augment::trivial}) {
    for (const int side : {32, 224}) {
      for (uint64_t draw = 0; draw < 50; ++draw) {
        Random plain_draws({draw});
        const View plain = plan_view(augment, side, kWidth, kHeight, plain_draws);
        const bool crops = augment != Augment::none && side > kSmallImage;
        for (const Objects& objects : {Objects{boxes, 0}, Objects{{}, 0.5}, Objects{boxes, crops ? 0 : 0.5}}) {
          Random random({draw});
          const View view = plan_view(augment, side, kWidth, kHeight, random, objects);
          ASSERT_TRUE(same(view.from, plain.from) && same(view.window, plain.window) && view.flip == plain.flip);
          Random follow = plain_draws;
          ASSERT_EQ(random.next(), follow.next());
        }
      }
    }
  }
}

std::string example_with_boxes(uint64_t seed, const std::vector<Box>& boxes) {
  const std::string jpeg = encode_jpeg(sample_image(120, 90, seed), 80);
  return write_example({jpeg, "JPEG", static_cast<int64_t>(seed % 2), "", "x.jpg", 90, 120, boxes});
}

/// What a device was asked for. It leaves the decoding to the host.
class Watcher final : public DeviceJpeg {
 public:
  Watcher(std::mutex& mutex, std::vector<Rect>& seen) : mutex_(mutex), seen_(seen) {}
  bool read(std::string_view, int, int, const View& view, uint8_t*) override {
    const std::lock_guard lock(mutex_);
    seen_.push_back(view.from);
    return false;
  }

 private:
  std::mutex& mutex_;
  std::vector<Rect>& seen_;
};

/// 12 images of 120x90 pixels, of which every second has a box in a corner.
class ObjectCropsOfShards : public ::testing::Test {
 protected:
  ObjectCropsOfShards() {
    write(2);
    options_.image_size = 72;
    options_.batch = 12;
  }

  /// One of `every` images has a box.
  void write(uint64_t every) const {
    std::vector<std::string> records;
    for (uint64_t i = 0; i < 12; ++i) {
      records.push_back(example_with_boxes(i, i % every == 0 ? std::vector<Box>{box_} : std::vector<Box>()));
    }
    folder_.write("train.tfrecord", shard_of(records));
  }

  std::unique_ptr<Dataset> open(bool boxes) const {
    DatasetOptions options;
    options.boxes = boxes;
    return open_dataset(folder_.path(), 72, options);
  }

  std::vector<std::vector<uint8_t>> seen(const LoaderOptions& options, bool boxes = true) const {
    const auto data = open(boxes);
    std::vector<std::vector<uint8_t>> images;
    for (const Batch& batch : take(*data, options, 0, 4)) images.push_back(batch.images);
    return images;
  }

  Box box_{0, 0, 0.25F, 0.25F};
  TemporaryFolder folder_;
  LoaderOptions options_;
};

TEST_F(ObjectCropsOfShards, AreFunctionsOfSeedEpochAndImage) {
  const auto plain = seen(options_, false);
  EXPECT_EQ(plain, seen(options_, true)) << "without the flag, boxes are no matter";
  options_.min_object_covered = 1;
  const auto crops = seen(options_);
  EXPECT_NE(crops, plain);
  LoaderOptions others = options_;
  others.threads = 3;
  others.cache = true;
  others.prefetch = 1;
  EXPECT_EQ(seen(others), crops);
  others.cache = false;
  others.seed = 2;
  EXPECT_NE(seen(others), crops);
  // Two ranks see what one sees.
  std::vector<std::vector<uint8_t>> halves(4);
  for (int rank = 0; rank < 2; ++rank) {
    LoaderOptions half = options_;
    half.rank = rank;
    half.world = 2;
    half.batch = 6;
    const auto part = seen(half);
    for (size_t i = 0; i < 4; ++i) halves[i].insert(halves[i].end(), part[i].begin(), part[i].end());
  }
  EXPECT_EQ(halves, crops);
}

TEST_F(ObjectCropsOfShards, AreThoseOfADeviceToo) {
  write(1);
  options_.min_object_covered = 1;
  std::mutex mutex;
  std::vector<Rect> asked;
  options_.make_device_jpeg = [&] { return std::make_unique<Watcher>(mutex, asked); };
  seen(options_);
  EXPECT_GE(asked.size(), 48U);
  for (const Rect& from : asked) EXPECT_EQ(covered(from, box_, 120, 90), 1);
}

TEST_F(ObjectCropsOfShards, SayHowManyImagesHaveBoxes) {
  options_.min_object_covered = 0.1;
  std::vector<std::string> notes;
  options_.on_note = [&](const std::string& line) { notes.push_back(line); };
  seen(options_);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("6 of 12 images have bounding boxes; ")));
}

TEST(RecordsWithBoxes, HaveBoxesWhereTheyAreAskedFor) {
  const TemporaryFolder folder;
  const std::vector<Box> two{{0.1F, 0.2F, 0.3F, 0.4F}, {0, 0, 1, 1}};
  folder.write("a/train-00000-of-00002", shard_of({example_with_boxes(0, two), example_with_boxes(1, {})}));
  folder.write("a/train-00001-of-00002", shard_of({example_with_boxes(2, {two[1]})}));
  DatasetOptions options;
  options.boxes = true;
  const auto data = open_dataset(folder.path() + "/a", 72, options);
  EXPECT_THAT(data->boxes(0), ElementsAre(two[0], two[1]));
  EXPECT_THAT(data->boxes(1), IsEmpty());
  EXPECT_THAT(data->boxes(2), ElementsAre(two[1]));
  EXPECT_THAT(open_dataset(folder.path() + "/a", 72)->boxes(0), IsEmpty());
}

TEST(RecordsWithBoxes, AreNeeded) {
  const TemporaryFolder folder;
  folder.write("shards/train.tfrecord", shard_of({example_of(1, 0), example_of(2, 1)}));
  folder.write("folders/rose/1.jpg", small_jpeg(1));
  DatasetOptions options;
  options.boxes = true;
  for (const std::string& spec : {folder.path() + "/shards", folder.path() + "/folders", std::string("synthetic")}) {
    try {
      open_dataset(spec, 72, options);
      ADD_FAILURE() << spec;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      EXPECT_THAT(error.what(), HasSubstr("trainer prep --boxes FILE"));
    }
  }
}

std::string packed(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

/// Reads the boxes of a record that has these lists beside image and label.
std::vector<Box> boxes_of(const std::vector<std::pair<std::string, std::string>>& lists) {
  std::string entries;
  for (const auto& [side, list] : lists) entries += feature("image/object/bbox/" + side, 2, list);
  const std::string record = example(entries);
  MemoryBytes bytes(record);
  return read_example_boxes(bytes, {0, record.size()});
}

TEST(RecordsWithBoxes, AreReadAsOthersWriteThem) {
  const auto list = [](std::initializer_list<float> values) { return bytes_field(1, packed(values)); };
  const auto single = [](float value) { return varint(1U << 3 | 5) + packed({value}); };
  // Not packed, in any order.
  EXPECT_THAT(boxes_of({{"ymax", single(0.5F) + single(1)},
                        {"xmin", single(0) + single(0.25F)},
                        {"xmax", single(1) + single(0.75F)},
                        {"ymin", single(0) + single(0.5F)}}),
              ElementsAre(Box{0, 0, 1, 0.5F}, Box{0.25F, 0.5F, 0.75F, 1}));
  // Over the edges, and without area.
  EXPECT_THAT(boxes_of({{"xmin", list({-1, 0.5F})},
                        {"ymin", list({-0.5F, 0})},
                        {"xmax", list({2, 0.5F})},
                        {"ymax", list({0.5F, 1})}}),
              ElementsAre(Box{0, 0, 1, 0.5F}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(boxes_of({{"xmin", list({nan})}, {"ymin", list({0})}, {"xmax", list({1})}, {"ymax", list({1})}}),
              IsEmpty());
  EXPECT_THAT(boxes_of({{"xmin", ""}, {"ymin", ""}, {"xmax", ""}, {"ymax", ""}}), IsEmpty());
}

TEST(RecordsWithBoxes, ThatMakeNoSenseAreBadImagesWhereBoxesCount) {
  const std::string ragged = feature("image/object/bbox/xmin", 2, bytes_field(1, packed({0, 0.5F})));
  const std::string cut = feature("image/object/bbox/xmin", 2, bytes_field(1, "abc"));
  for (const auto& [odd, why] : {std::pair(ragged, "different lengths"), std::pair(cut, "ends within a number")}) {
    const TemporaryFolder folder;
    const std::string base = example_of(1, 0);
    folder.write("train.tfrecord",
                 shard_of({example_with_boxes(0, {{0, 0, 1, 1}}), base + example(odd), example_of(2, 1)}));
    DatasetOptions options;
    EXPECT_EQ(open_dataset(folder.path(), 72)->encoded(1), small_jpeg(1));
    options.boxes = true;
    const auto data = open_dataset(folder.path(), 72, options);
    ASSERT_EQ(data->size(), 3U);
    try {
      data->encoded(1);
      ADD_FAILURE() << why;
    } catch (const BadImage& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
    EXPECT_EQ(data->encoded(2), small_jpeg(2));
  }
}

}  // namespace
}  // namespace trainyard
