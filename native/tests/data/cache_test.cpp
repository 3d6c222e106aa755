// What --cache ram keeps, how much it takes, and where it stops.
#include "trainer/data/cache.h"

#include <gmock/gmock.h>

#include "support.h"
#include "trainer/base/spare_memory.h"
#include "trainer/data/reader.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kImageBytes = 20 * 18 * 3;  // of 40 x 36 pixels, decoded at half the size for 16

/// 2 classes of 10 images of 40x36 pixels, 5 steps an epoch.
class Caches : public ::testing::Test {
 protected:
  Caches() {
    write_samples(folder_, 2, 10);
    data_ = open_dataset(folder_.path(), 16);
    options_.image_size = 16;
    options_.batch = 4;
    options_.threads = 3;
    options_.on_note = [this](const std::string& line) { notes_.push_back(line); };
  }

  std::vector<std::vector<uint8_t>> pixels(int64_t steps) {
    std::vector<std::vector<uint8_t>> all;
    for (const Batch& batch : take(*data_, options_, 0, steps)) all.push_back(batch.images);
    return all;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Dataset> data_;
  LoaderOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(Caches, say_what_they_will_take_and_what_they_take) {
  options_.cache = true;
  pixels(15);
  EXPECT_THAT(notes_, ElementsAre(StartsWith("the 20 decoded images take about 21.6 kB in memory; "),
                                  "20 of 20 decoded images are kept in memory and take 21.6 kB"));
  notes_.clear();
  options_.rank = 1;  // the first rank speaks for all of what will be, each of what is
  options_.world = 2;
  options_.batch = 2;
  pixels(60);
  EXPECT_THAT(notes_, ElementsAre(StartsWith("20 of 20")));
  notes_.clear();
  folder_.write("class1/104.jpg", "no image");
  options_.max_bad_images = 1;
  pixels(60);
  EXPECT_THAT(notes_, ElementsAre(StartsWith("19 of 20")));
}

TEST_F(Caches, change_nothing_and_say_so_where_memory_is_short) {
  const auto expected = pixels(15);
  EXPECT_TRUE(notes_.empty());
  options_.cache = true;
  // One look is the forecast's, one the first image's.
  options_.spare_memory = [looks = 0]() mutable { return looks++ < 2 ? 5 * kImageBytes + 100 : 100; };
  EXPECT_EQ(pixels(15), expected);
  EXPECT_THAT(notes_,
              ElementsAre(HasSubstr("as many as fit are kept, the others are decoded each time"),
                          "5 of 20 decoded images are kept in memory and take 5.4 kB; there is no memory to spare for "
                          "more, so the others are decoded each time"));
}

TEST_F(Caches, take_no_more_than_there_is) {
  uint64_t left = 5 * kImageBytes + 100;
  ImageCache cache(20, [&] { return left; });
  const Image image = sample_image(20, 18, 1);
  for (size_t i = 0; i < 20; ++i) {
    cache.keep(i, image);
    if (i == 4) left = 100;  // what the five took is gone
  }
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(cache.find(i) != nullptr, i < 5) << i;
  EXPECT_THAT(cache.summary_once(0).value_or(""), StartsWith("5 of 20"));
  EXPECT_FALSE(cache.summary_once(0).has_value());
}

TEST_F(Caches, are_estimated_from_headers_as_they_will_be_decoded) {
  EXPECT_EQ(estimate_cache(*data_, 1 << 20), 80 * kImageBytes);
  EXPECT_EQ(estimate_cache(*data_, 18), 20 * kImageBytes);
  folder_.write("class0/100.jpg", "no image");
  EXPECT_EQ(estimate_cache(*data_, 1 << 20), 80 * kImageBytes);
  EXPECT_EQ(estimate_cache(*open_dataset("synthetic", 16), 16), 0U);
  EXPECT_EQ(cache_forecast(*open_dataset("synthetic", 16), 16, 5, 1), "");
  EXPECT_THAT(cache_forecast(*data_, 18, 20'000'000'000, 4), HasSubstr("in memory of each rank; 20.0 GB are to spare"));
}

TEST(SpareMemory, leaves_an_eighth_of_the_machine_and_of_every_group) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:  8000 kB\nMemFree:  1 kB\nMemAvailable:  5000 kB\n");
  EXPECT_EQ(spare_memory(root.path()), 4000 * 1024U);
  EXPECT_EQ(free_memory(root.path()), 5000 * 1024U);
  root.write("proc/self/cgroup", "0::/job/step\n");
  const std::string group = "sys/fs/cgroup/job/";
  root.write(group + "step/memory.max", "max\n");
  root.write(group + "step/memory.current", "1000\n");
  EXPECT_EQ(spare_memory(root.path()), 4000 * 1024U);
  root.write(group + "memory.max", "800000\n");
  root.write(group + "memory.current", "500000\n");
  root.write(group + "memory.stat", "anon 100000\ninactive_file 400000\n");
  EXPECT_EQ(spare_memory(root.path()), 600'000U);
  EXPECT_EQ(free_memory(root.path()), 700'000U);
  root.write(group + "step/memory.max", "900\n");
  EXPECT_EQ(spare_memory(root.path()), 0U);
  root.write("proc/self/cgroup", "4:cpu,memory:/old\n0::/\n");
  root.write("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "80000\n");
  root.write("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "20000\n");
  EXPECT_EQ(spare_memory(root.path()), 50'000U);
  EXPECT_EQ(free_memory(root.path()), 60'000U);
  EXPECT_EQ(spare_memory(root.path() + "/none"), kUnknownMemory);
  EXPECT_EQ(free_memory(root.path() + "/none"), kUnknownMemory);
  EXPECT_GT(spare_memory(), 0U);
}

}  // namespace
}  // namespace trainyard
