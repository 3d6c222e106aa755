// What a device decodes and what the host does, with a host in the device's place.
#include "trainer/base/device_jpeg.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "common/error.h"
#include "jpeg_support.h"
#include "tests/data/support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/images/plain_jpeg.h"
#include "trainer/data/images/png.h"
#include "trainer/data/pixels/resize.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// What the devices of a loader were asked.
struct Told {
  std::mutex mutex;
  std::map<std::pair<int, int>, int> sizes;  ///< how often a file of that size was asked for
  std::set<std::thread::id> threads;
  std::atomic<int> made = 0;
  std::atomic<int> there = 0;
};

/// Decodes whole images on the host, in the thread that it was made in.
class FakeDevice final : public DeviceJpeg {
 public:
  explicit FakeDevice(Told& told) : told_(told) {
    ++told_.made;
    ++told_.there;
  }
  ~FakeDevice() override {
    --told_.there;
    EXPECT_EQ(thread_, std::this_thread::get_id());
  }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  bool read(std::string_view file, int width, int height, const View& view, uint8_t* out) override {
    EXPECT_EQ(thread_, std::this_thread::get_id());
    {
      const std::lock_guard lock(told_.mutex);
      ++told_.sizes[{width, height}];
      told_.threads.insert(thread_);
    }
    if (width == kRefused) return false;
    if (width == kBroken) throw Error(Exit::device, "the device broke");
    decoder_.decode(file, 1 << 20, image_);
    EXPECT_EQ(image_.width, width);
    EXPECT_EQ(image_.height, height);
    resizer_.resize(image_, view, out);
    return true;
  }

  static constexpr int kRefused = 46;
  static constexpr int kBroken = 66;

 private:
  Told& told_;
  std::thread::id thread_ = std::this_thread::get_id();
  JpegDecoder decoder_;
  Image image_;
  Resizer resizer_;
};

class DeviceJpegs : public testing::Test {
 protected:
  DeviceJpegs() {
    // Of a size at which the host's decoder shrinks nothing: then both see the same pixels.
    options_.image_size = 32;
    options_.batch = 4;
    options_.threads = 3;
  }

  LoaderOptions on_device() {
    LoaderOptions options = options_;
    options.make_device_jpeg = [this] { return std::make_unique<FakeDevice>(told_); };
    return options;
  }

  static void expect_same(const std::vector<Batch>& ours, const std::vector<Batch>& theirs) {
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].indices, theirs[i].indices) << i;
      EXPECT_EQ(ours[i].labels, theirs[i].labels) << i;
      EXPECT_EQ(ours[i].images, theirs[i].images) << i;
    }
  }

  TemporaryFolder folder_;
  LoaderOptions options_;
  Told told_;
};

TEST_F(DeviceJpegs, give_the_views_that_the_host_gives_from_any_step_on) {
  write_samples(folder_, 2, 10);
  const auto data = open_dataset(folder_.path(), 32);
  const std::vector<Batch> host = take(*data, options_, 0, 15);
  expect_same(take(*data, on_device(), 0, 15), host);
  expect_same(take(*data, on_device(), 7, 8), {host.begin() + 7, host.end()});
  EXPECT_EQ(told_.sizes.size(), 1U);
  EXPECT_GE((told_.sizes[{40, 36}]), 92);  // and some ahead
  options_.augment = Augment::none;
  options_.shuffle = false;
  expect_same(take(*data, on_device(), 0, 5), take(*data, options_, 0, 5));
}

TEST_F(DeviceJpegs, are_one_for_each_thread) {
  write_samples(folder_, 2, 10);
  const auto data = open_dataset(folder_.path(), 32);
  take(*data, on_device(), 0, 15);
  EXPECT_EQ(told_.made, 3);
  EXPECT_EQ(told_.there, 0);
  EXPECT_LE(told_.threads.size(), 3U);
}

TEST_F(DeviceJpegs, are_not_asked_where_decoded_images_are_kept) {
  write_samples(folder_, 2, 10);
  const auto data = open_dataset(folder_.path(), 32);
  options_.cache = true;
  take(*data, on_device(), 0, 5);
  EXPECT_EQ(told_.made, 0);
}

/// Each of a size of its own, by which the device tells what it was asked.
TEST_F(DeviceJpegs, leave_to_the_host_what_is_not_usual_and_what_they_refuse) {
  const auto as = [](J_COLOR_SPACE space) {
    return [space](jpeg_compress_struct& compress) { jpeg_set_colorspace(&compress, space); };
  };
  const std::string good = encode(drawn(60, 40), as_usual);
  const std::map<std::string, std::string> files{
      {"usual.jpg", encode(drawn(41, 40), as_usual)},
      {"grey.jpg", encode(drawn(42, 40), as(JCS_GRAYSCALE))},
      {"progressive.jpg", encode(drawn(43, 40), [](auto& c) { jpeg_simple_progression(&c); })},
      {"refused.jpg", encode(drawn(FakeDevice::kRefused, 40), as_usual)},
      {"named.png", encode_png(sample_image(47, 40, 1))},
      {"ink.jpg", encode(ink(), as_usual)},
      {"rgb.jpg", encode(drawn(48, 40), as(JCS_RGB))},
      {"wide.jpg", encode(drawn(20'000, 40), as_usual)},
      {"more.jpg", encode(drawn(49, 40), as_usual) + "behind its end"},
      {"cut.jpg", good.substr(0, good.size() / 2)},
      {"page.jpg", "<!DOCTYPE html><title>404</title>"},
  };
  for (const auto& [name, bytes] : files) folder_.write("all/" + name, bytes);
  const auto data = open_dataset(folder_.path(), 32);
  options_.max_bad_images = 2;
  std::map<std::string, std::string> named;
  options_.on_bad_image = [&](const std::string& path, const std::string& message) {
    EXPECT_TRUE(named.emplace(path.substr(path.rfind('/') + 1), message).second) << path << " was told of twice";
  };
  const std::vector<Batch> host = take(*data, options_, 0, 8);
  const auto named_by_host = std::exchange(named, {});
  expect_same(take(*data, on_device(), 0, 8), host);
  EXPECT_EQ(named, named_by_host);
  EXPECT_THAT(named, ElementsAre(Pair("cut.jpg", HasSubstr("Premature end")), Pair("page.jpg", HasSubstr("an HTML"))));
  std::set<std::pair<int, int>> asked;
  for (const auto& [size, times] : told_.sizes) asked.insert(size);
  EXPECT_THAT(asked, ElementsAre(Pair(41, 40), Pair(42, 40), Pair(43, 40), Pair(FakeDevice::kRefused, 40)));
}

TEST_F(DeviceJpegs, that_fail_end_the_run_with_their_error) {
  folder_.write("all/broken.jpg", encode(drawn(FakeDevice::kBroken, 40), as_usual));
  const auto data = open_dataset(folder_.path(), 32);
  options_.batch = 1;
  try {
    take(*data, on_device(), 0, 1);
    FAIL() << "a batch of a broken device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_STREQ(error.what(), "the device broke");
  }
}

TEST(PlainJpeg, is_a_whole_jpeg_of_the_usual_kind_with_its_size) {
  const auto size = plain_jpeg(encode(drawn(61, 45), as_usual));
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 61);
  EXPECT_EQ(size->height, 45);
  EXPECT_TRUE(plain_jpeg(encode_jpeg(sample_image(16, 16, 1), 90)));
  EXPECT_TRUE(plain_jpeg(encode(drawn(61, 45), [](auto& c) { c.restart_interval = 3; })));
  EXPECT_TRUE(plain_jpeg(encode(drawn(61, 45), [](auto& c) { c.write_Adobe_marker = TRUE; })));
  EXPECT_FALSE(plain_jpeg(encode(drawn(61, 45), [](auto& c) { c.arith_code = TRUE; })));
  EXPECT_FALSE(plain_jpeg(encode(drawn(61, 45), [](auto& c) { c.comp_info[1].h_samp_factor = 2; })));
  EXPECT_FALSE(plain_jpeg(encode(ink(), [](auto& c) { jpeg_set_colorspace(&c, JCS_YCCK); })));
}

/// No byte of it, changed or missing, is read beyond the file.
TEST(PlainJpeg, of_anything_else_is_nothing) {
  const std::string good = encode(drawn(20, 20), as_usual);
  for (size_t end = 0; end < good.size(); ++end) {
    EXPECT_FALSE(plain_jpeg(good.substr(0, end)));
    plain_jpeg(good.substr(0, end) + "\xFF\xD9");
    std::string changed = good;
    changed[end] = static_cast<char>(changed[end] ^ 0xFF);
    plain_jpeg(changed);
  }
  EXPECT_FALSE(plain_jpeg(""));
  EXPECT_FALSE(plain_jpeg("\xFF\xD8\xFF\xD9"));
  EXPECT_FALSE(plain_jpeg(encode_png(sample_image(20, 20, 1))));
}

}  // namespace
}  // namespace trainyard
