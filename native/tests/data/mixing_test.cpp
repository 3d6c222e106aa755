// mixup and cutmix: what is drawn, the pixels and labels of a batch, and that neither threads nor a
// resume change them.
#include "trainer/data/pixels/mixing.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "support.h"

namespace trainyard {
namespace {

using testing::ElementsAre;

class OfAlpha : public testing::TestWithParam<double> {};

TEST_P(OfAlpha, BetaHasItsMomentsAndIsSymmetric) {
  const double alpha = GetParam();
  Random random({7, 1});
  constexpr int draws = 200'000;
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  int below_half = 0;
  for (int i = 0; i < draws; ++i) {
    const double drawn = draw_beta(alpha, random);
    ASSERT_GE(drawn, 0);
    ASSERT_LE(drawn, 1);
    const double from_middle = drawn - 0.5;
    sum += from_middle;
    squares += from_middle * from_middle;
    fourths += std::pow(from_middle, 4);
    below_half += drawn < 0.5 ? 1 : 0;
  }
  // Of Beta(a, a) about its mean: 1 / (4 (2a + 1)) and 3 / (16 (2a + 1) (2a + 3)).
  const double variance = 1 / (4 * (2 * alpha + 1));
  const double fourth = 3 / (16 * (2 * alpha + 1) * (2 * alpha + 3));
  EXPECT_NEAR(sum / draws, 0, 5 * std::sqrt(variance / draws));
  EXPECT_NEAR(squares / draws, variance, 5 * std::sqrt((fourth - variance * variance) / draws) + 1e-4 * variance);
  EXPECT_NEAR(fourths / draws, fourth, 0.04 * fourth);
  EXPECT_NEAR(below_half, draws / 2, 5 * std::sqrt(draws / 4.0));
}

INSTANTIATE_TEST_SUITE_P(Beta, OfAlpha, testing::Values(0.01, 0.2, 0.5, 1.0, 1.01, 4.0, 100.0),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param * 100)); });

TEST(Beta, OfAnAlphaNearlyZeroIsAllOrNothing) {
  Random random({8});
  for (int i = 0; i < 1000; ++i) EXPECT_THAT(draw_beta(1e-300, random), testing::AnyOf(0.0, 1.0));
}

TEST(Cutmix, HasTorchvisionsBox) {
  // x1, y1, x2 - x1 and y2 - y1 of its RandomCutmix, for lambda, r_x, r_y and W = H.
  struct Case {
    double lambda;
    int x, y, size;
    std::vector<int> box;
  };
  for (const Case& c : std::vector<Case>{{0.4, 16, 16, 32, {4, 4, 24, 24}},
                                         {0.4, 0, 31, 32, {0, 19, 12, 13}},
                                         {0.0, 10, 200, 224, {0, 88, 122, 136}},
                                         {0.75, 111, 3, 224, {55, 0, 112, 59}},
                                         {0.3, 30, 2, 33, {17, 0, 16, 15}},
                                         {0.9999, 5, 5, 32, {5, 5, 0, 0}},
                                         {1.0, 5, 5, 32, {5, 5, 0, 0}}}) {
    const Rect box = cutmix_box(c.lambda, c.x, c.y, c.size);
    EXPECT_EQ((std::vector<int>{box.x, box.y, box.width, box.height}), c.box) << c.lambda << " of " << c.size;
  }
}

TEST(Mixture, WithBothIsEitherHalfOfTheTime) {
  Random random({9});
  int cuts = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Mixture mixture = draw_mixture({.mixup = 0.2, .cutmix = 1}, 32, random);
    cuts += mixture.cut ? 1 : 0;
    if (mixture.cut) {
      EXPECT_EQ(mixture.share, 1 - mixture.box.width * mixture.box.height / 1024.0);
    } else {
      EXPECT_EQ(mixture.share * 65536, std::floor(mixture.share * 65536));
    }
  }
  EXPECT_NEAR(cuts, 5000, 250);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(draw_mixture({.mixup = 1}, 32, random).cut);
    EXPECT_TRUE(draw_mixture({.cutmix = 1}, 32, random).cut);
  }
}

Batch numbered(int count, int size) {
  Batch batch;
  batch.count = count;
  const auto pixels = static_cast<size_t>(size) * size * 3;
  for (int i = 0; i < count; ++i) {
    batch.labels.push_back(10 + i);
    for (size_t at = 0; at < pixels; ++at) batch.images.push_back(static_cast<uint8_t>(37 * i + 11 * at));
  }
  return batch;
}

TEST(MixBatch, OfMixupIsTheNearestByteOfEachSum) {
  for (const double share : {0.0, 0.25, 0.5, 0.6875, 45000.0 / 65536, 1.0}) {
    const Batch before = numbered(5, 9);
    Batch batch = before;
    mix_batch({.share = share}, 9, batch);
    for (size_t i = 0; i < batch.images.size(); ++i) {
      const size_t other = (i + 4 * 243) % before.images.size();
      const double exact = share * before.images[i] + (1 - share) * before.images[other];
      ASSERT_EQ(batch.images[i], std::floor(exact + 0.5)) << i << " " << share;
    }
  }
}

TEST(MixBatch, OfCutmixPutsTheBoxOfTheImageBefore) {
  const Batch before = numbered(4, 8);
  Batch batch = before;
  const Rect box{2, 1, 3, 6};
  mix_batch({.share = 1 - 18.0 / 64, .cut = true, .box = box}, 8, batch);
  for (size_t i = 0; i < batch.images.size(); ++i) {
    const auto x = static_cast<int>(i / 3 % 8);
    const auto y = static_cast<int>(i / 24 % 8);
    const bool within = x >= 2 && x < 5 && y >= 1 && y < 7;
    ASSERT_EQ(batch.images[i], before.images[within ? (i + 3 * 192) % before.images.size() : i]) << i;
  }
}

TEST(MixBatch, GivesTheLabelOfTheLargerShareFirst) {
  Batch batch = numbered(3, 4);
  mix_batch({.share = 0.75}, 4, batch);
  EXPECT_THAT(batch.labels, ElementsAre(10, 11, 12));
  EXPECT_THAT(batch.other_labels, ElementsAre(12, 10, 11));
  EXPECT_EQ(batch.share, 0.75F);
  batch = numbered(3, 4);
  mix_batch({.share = 0.25}, 4, batch);
  EXPECT_THAT(batch.labels, ElementsAre(12, 10, 11));
  EXPECT_THAT(batch.other_labels, ElementsAre(10, 11, 12));
  EXPECT_EQ(batch.share, 0.75F);
  batch = numbered(3, 4);
  mix_batch({.share = 0.5}, 4, batch);
  EXPECT_THAT(batch.labels, ElementsAre(10, 11, 12));
  EXPECT_EQ(batch.share, 0.5F);
}

TEST(MixBatch, OfOneImageIsThatImage) {
  Batch batch = numbered(1, 4);
  mix_batch({.share = 0.3}, 4, batch);
  EXPECT_EQ(batch.images, numbered(1, 4).images);
  EXPECT_EQ(batch.other_labels, batch.labels);
}

/// 4 classes of 10 images, 13 batches of 3 an epoch, each mixed.
class MixedBatches : public testing::Test {
 protected:
  MixedBatches() {
    write_samples(folder_, 4, 10);
    data_ = open_dataset(folder_.path(), 16);
    options_.image_size = 16;
    options_.batch = 3;
    options_.seed = 5;
    options_.mixing = {.mixup = 0.8, .cutmix = 1};
  }
  std::vector<Batch> batches(int64_t first, int64_t steps) const { return take(*data_, options_, first, steps); }

  TemporaryFolder folder_;
  std::unique_ptr<Dataset> data_;
  LoaderOptions options_;
};

void expect_same(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].images, b[i].images) << i;
    EXPECT_EQ(a[i].labels, b[i].labels) << i;
    EXPECT_EQ(a[i].other_labels, b[i].other_labels) << i;
    EXPECT_EQ(a[i].share, b[i].share) << i;
  }
}

TEST_F(MixedBatches, DoNotDependOnThreadsQueueCacheOrWhereARunGoesOn) {
  const auto all = batches(0, 30);
  for (const int threads : {1, 2, 5}) {
    for (const int prefetch : {1, 3, 30}) {
      options_.threads = threads;
      options_.prefetch = prefetch;
      options_.cache = !options_.cache;
      expect_same(batches(0, 30), all);
    }
  }
  for (const int64_t first : {1, 12, 13, 20}) {
    expect_same(batches(first, 10), {all.begin() + first, all.begin() + first + 10});
  }
}

TEST_F(MixedBatches, AreDrawnAnewByEachRankStepEpochAndSeed) {
  const auto shares = [&] {
    std::vector<float> list;
    for (const Batch& batch : batches(0, 26)) list.push_back(batch.share);
    return list;
  };
  const auto mine = shares();
  EXPECT_GT(std::set<float>(mine.begin(), mine.end()).size(), 15U);
  EXPECT_NE(std::vector<float>(mine.begin(), mine.begin() + 13), std::vector<float>(mine.begin() + 13, mine.end()));
  options_.seed = 6;
  EXPECT_NE(shares(), mine);
  options_.seed = 5;
  // A rank draws the same in a world of any size, as long as epochs have as many steps.
  options_.batch = 1;
  options_.world = 3;
  std::vector<float> first;
  for (const Batch& batch : batches(0, 26)) first.push_back(batch.share);
  EXPECT_EQ(first, mine);
  options_.rank = 1;
  EXPECT_NE(shares(), mine);
}

TEST_F(MixedBatches, AreThoseOfTheSameImagesUnmixed) {
  const auto mixed = batches(2, 1).front();
  options_.mixing = {};
  auto plain = batches(2, 1).front();
  EXPECT_TRUE(plain.other_labels.empty());
  EXPECT_EQ(mixed.indices, plain.indices);
  Random random({5, 0, 2, 0, 0x6d6978ULL});
  mix_batch(draw_mixture({.mixup = 0.8, .cutmix = 1}, 16, random), 16, plain);
  expect_same({mixed}, {plain});
}

TEST_F(MixedBatches, AreMadeOfSyntheticImagesToo) {
  data_ = open_dataset("synthetic:7x16", 16);
  const auto mixed = batches(3, 1).front();
  options_.mixing = {};
  EXPECT_NE(mixed.images, batches(3, 1).front().images);
  EXPECT_EQ(mixed.other_labels.size(), 3U);
}

}  // namespace
}  // namespace trainyard
