// The order of images, a function of the seed alone: with a shuffle buffer, drawn from a window
// that moves over the set; and with images that are repeated and dealt to the ranks.
#include "trainer/data/order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

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

LoaderOptions repeating(int repeats, int world, int rank, int batch) {
  LoaderOptions options = with_buffer(0);
  options.repeats = repeats;
  options.world = world;
  options.rank = rank;
  options.batch = batch;
  return options;
}

/// What a rank reads of an epoch, by RASampler of torchvision 0.26
/// (references/classification/sampler.py): `indices` of its __iter__ from the repetitions on.
std::vector<size_t> sampled(const std::vector<uint32_t>& shuffled, size_t repetitions, size_t rank, size_t replicas) {
  std::vector<size_t> indices;
  for (const uint32_t each : shuffled) indices.insert(indices.end(), repetitions, each);
  std::vector<size_t> own;
  for (size_t at = rank; at < indices.size(); at += replicas) own.push_back(indices[at]);
  return own;
}

TEST(RepeatedImages, go_to_the_ranks_as_torchvision_deals_them) {
  for (const int repeats : {2, 3, 4}) {
    for (const int world : {1, 2, 3, 4, 5}) {
      for (int rank = 0; rank < world; ++rank) {
        const LoaderOptions options = repeating(repeats, world, rank, 6);
        Order order(kImages, options);
        const int64_t per_epoch = order.steps_per_epoch();
        EXPECT_EQ(per_epoch, static_cast<int64_t>(kImages) / (6 * world));  // as long as without
        for (const int64_t epoch : {0, 3}) {
          const auto want = sampled(epoch_of(with_buffer(0), epoch), repeats, rank, world);
          size_t at = 0;
          for (int64_t step = 0; step < per_epoch; ++step) {
            const Part part = order.part(epoch * per_epoch + step);
            ASSERT_EQ(part.count, 6);
            for (int slot = 0; slot < part.count; ++slot) ASSERT_EQ(part.index(slot), want[at++]);
          }
        }
      }
    }
  }
}

TEST(RepeatedImages, are_another_view_each_time) {
  constexpr int kWorld = 4;
  std::set<std::pair<size_t, int64_t>> seen;
  std::map<size_t, std::set<int>> ranks;  // of the first epoch
  size_t images = 0;
  for (int rank = 0; rank < kWorld; ++rank) {
    Order order(kImages, repeating(4, kWorld, rank, 5));
    for (int64_t step = 0; step < 3 * order.steps_per_epoch(); ++step) {
      const Part part = order.part(step);
      for (int slot = 0; slot < part.count; ++slot) {
        seen.emplace(part.index(slot), part.view(slot));
        if (part.epoch == 0) ranks[part.index(slot)].insert(rank);
        ++images;
      }
    }
  }
  EXPECT_EQ(seen.size(), images);
  EXPECT_EQ(images, 3 * kImages);
  EXPECT_EQ(ranks.size(), kImages / 4);
  for (const auto& [image, met] : ranks) EXPECT_EQ(met.size(), 4U) << image;
}

TEST(RepeatedImages, are_the_same_of_a_step_whatever_ranks_share_it) {
  const auto step_of = [](int world, int64_t step) {
    std::multiset<std::pair<size_t, int64_t>> all;
    for (int rank = 0; rank < world; ++rank) {
      Order order(kImages, repeating(3, world, rank, 24 / world));
      const Part part = order.part(step);
      for (int slot = 0; slot < part.count; ++slot) all.emplace(part.index(slot), part.view(slot));
    }
    return all;
  };
  for (const int64_t step : {0, 3, 5}) {
    EXPECT_EQ(step_of(1, step).size(), 24U);
    for (const int world : {2, 3, 4}) EXPECT_EQ(step_of(world, step), step_of(1, step));
  }
}

TEST(RepeatedImages, go_on_in_the_middle_of_an_epoch_and_of_an_image) {
  const TemporaryFolder folder;
  write_samples(folder, 4, 10);
  const auto data = open_dataset(folder.path(), 8);
  LoaderOptions options = repeating(4, 2, 1, 3);
  options.augment = Augment::trivial;
  const auto whole = take(*data, options, 0, 20);
  EXPECT_EQ(make_loader(*data, options)->steps_per_epoch(), 6);
  options.threads = 3;
  options.cache = true;
  for (const int64_t first : {1, 5, 8}) {
    const auto later = take(*data, options, first, 10);
    for (size_t i = 0; i < later.size(); ++i) {
      const Batch& want = whole[static_cast<size_t>(first) + i];
      EXPECT_EQ(later[i].indices, want.indices);
      EXPECT_EQ(later[i].images, want.images);
      EXPECT_EQ(later[i].labels, want.labels);
    }
  }
  // Both of one rank's views of an image in a batch, which are not alike.
  const size_t bytes = whole[0].images.size() / 3;
  ASSERT_EQ(whole[0].indices[0], whole[0].indices[1]);
  EXPECT_FALSE(std::equal(whole[0].images.begin(), whole[0].images.begin() + static_cast<std::ptrdiff_t>(bytes),
                          whole[0].images.begin() + static_cast<std::ptrdiff_t>(bytes)));
}

TEST(RepeatedImages, of_one_that_cannot_be_read_are_the_next_image) {
  Order order(kImages, repeating(3, 2, 1, 4));
  const Part part = order.part(0);
  for (int slot = 0; slot < part.count; ++slot) {
    const size_t at = static_cast<size_t>(1 + 2 * slot) / 3;
    EXPECT_EQ(part.index(slot), (*part.permutation)[at]);
    EXPECT_EQ(part.index(slot, 1), (*part.permutation)[at + 1]);
  }
}

}  // namespace
}  // namespace trainyard
