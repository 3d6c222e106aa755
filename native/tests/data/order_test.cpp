// The order of images with a shuffle buffer: drawn from a window that moves over the set, a
// function of the seed alone.
#include "trainer/data/order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "support.h"

namespace trainyard {
namespace {

constexpr size_t kImages = 100;

LoaderOptions with_buffer(size_t buffer) {
  LoaderOptions options;
  options.image_size = 8;
  options.batch = 10;
  options.seed = 3;
  options.shuffle_buffer = buffer;
  return options;
}

std::vector<uint32_t> epoch_of(const LoaderOptions& options, int64_t epoch) {
  Order order(kImages, options);
  return *order.part(epoch * order.steps_per_epoch()).permutation;
}

std::vector<uint32_t> sorted(std::vector<uint32_t> order) {
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<uint32_t> in_order() {
  std::vector<uint32_t> order(kImages);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

TEST(ShuffleBuffer, gives_each_image_once_and_none_before_it_is_in_the_buffer) {
  for (const size_t buffer : {2, 7, 50, 99}) {
    const auto order = epoch_of(with_buffer(buffer), 0);
    EXPECT_EQ(sorted(order), in_order());
    EXPECT_NE(order, in_order());
    size_t furthest = 0;
    for (size_t i = 0; i < kImages; ++i) {
      ASSERT_LT(order[i], i + buffer) << buffer;
      furthest = std::max(furthest, order[i] > i ? order[i] - i : 0);
    }
    EXPECT_GT(furthest, buffer / 4);  // it is not merely the order of the set
    EXPECT_NE(order, epoch_of(with_buffer(buffer), 1));
  }
}

TEST(ShuffleBuffer, of_one_mixes_nothing_and_of_the_whole_set_all) {
  EXPECT_EQ(epoch_of(with_buffer(1), 0), in_order());
  for (const size_t buffer : {kImages, 10 * kImages}) {
    EXPECT_EQ(epoch_of(with_buffer(buffer), 2), epoch_of(with_buffer(0), 2));
  }
}

/// Of a place's draw every image of the buffer is as likely: over many seeds the first image is
/// each of them.
TEST(ShuffleBuffer, draws_evenly) {
  constexpr int kSeeds = 3000;
  std::array<int, 10> met{};
  for (int seed = 0; seed < kSeeds; ++seed) {
    LoaderOptions options = with_buffer(met.size());
    options.seed = static_cast<uint64_t>(seed);
    ++met[epoch_of(options, 0).front()];
  }
  for (const int count : met) EXPECT_NEAR(count, kSeeds / 10, 70);  // more than four standard deviations
}

TEST(ShuffleBuffer, gives_the_same_whatever_ranks_threads_and_first_step) {
  const auto data = open_dataset("synthetic:10x8", 8);
  LoaderOptions options = with_buffer(300);
  options.batch = 8;
  const int64_t per_epoch = make_loader(*data, options)->steps_per_epoch();
  const auto whole = take(*data, options, 0, per_epoch + 20);
  options.threads = 3;
  options.prefetch = 9;
  const int64_t first = per_epoch - 7;  // resumed in the middle of an epoch, on into the next
  const auto later = take(*data, options, first, 20);
  for (size_t i = 0; i < later.size(); ++i) {
    EXPECT_EQ(later[i].indices, whole[static_cast<size_t>(first) + i].indices);
    EXPECT_EQ(later[i].images, whole[static_cast<size_t>(first) + i].images);
  }
  options.batch = 4;
  options.world = 2;
  options.rank = 1;
  const auto high = take(*data, options, first, 20);
  for (size_t i = 0; i < high.size(); ++i) {
    EXPECT_EQ(high[i].indices, std::vector<size_t>(later[i].indices.begin() + 4, later[i].indices.end()));
  }
}

}  // namespace
}  // namespace trainyard
