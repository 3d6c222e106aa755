// Batches come in order, each once, whether somebody looked ahead or not.
#include "trainer/train/loop/batch_feed.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "common/error.h"

namespace trainyard {
namespace {

/// Batches of one image, whose label is the step, and how they went out and came back.
class CountingLoader final : public Loader {
 public:
  int64_t steps_per_epoch() const override { return 1000; }
  Batch next(int64_t step) override {
    if (step == broken) throw Error(Exit::data, "unreadable");
    EXPECT_EQ(step, asked++);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Batch batch;
    batch.count = 1;
    batch.images = std::vector<uint8_t>(3, static_cast<uint8_t>(step));
    batch.labels = {static_cast<int32_t>(step)};
    if (mixed) batch.other_labels = {static_cast<int32_t>(100 + step)};
    if (mixed) batch.share = 0.75F;
    return batch;
  }
  void recycle(Batch done) override { recycled.push_back(done.labels.at(0)); }

  bool mixed = false;
  int64_t asked = 0;
  int64_t broken = -1;  ///< the step whose batch cannot be had
  std::vector<int32_t> recycled;
};

TEST(BatchFeed, GivesWhatWasLookedAtAhead) {
  CountingLoader loader;
  BatchFeed feed(loader, [] { return false; }, 1, 3);
  EXPECT_EQ(feed.take(0).labels[0], 0);
  const auto ahead = feed.ahead();
  ASSERT_TRUE(ahead);
  const uint8_t* images = ahead->images;
  EXPECT_EQ(feed.ahead()->images, images) << "the same one, however often it is asked for";
  const BatchView second = feed.take(1);
  EXPECT_EQ(second.images, images) << "it is known by its address";
  EXPECT_EQ(second.labels[0], 1);
  EXPECT_EQ(loader.recycled, std::vector<int32_t>{0});
  feed.done();
  EXPECT_EQ(feed.take(2).labels[0], 2);
  EXPECT_FALSE(feed.ahead()) << "there is no step behind the last one";
  feed.done();
  EXPECT_EQ(loader.recycled, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(loader.asked, 3);
}

TEST(BatchFeed, HandsOnWhatImagesAreMixturesOf) {
  CountingLoader loader;
  BatchFeed feed(loader, [] { return false; }, 1, 3);
  EXPECT_EQ(feed.take(0).other_labels, nullptr);
  loader.mixed = true;
  const BatchView view = feed.take(1);
  EXPECT_EQ(view.other_labels[0], 101);
  EXPECT_EQ(view.share, 0.75F);
}

TEST(BatchFeed, CountsWaitsInWhichTheDeviceHadNothingToDo) {
  CountingLoader loader;
  bool busy = false;
  BatchFeed feed(loader, [&] { return busy; }, 1, 10);
  feed.take(0);
  EXPECT_GE(feed.take_waited_ms(), 2);
  EXPECT_EQ(feed.take_waited_ms(), 0);
  busy = true;
  feed.ahead();
  EXPECT_EQ(feed.take_waited_ms(), 0);
}

TEST(BatchFeed, SaysWhatIsWrongWithABatchWhenItIsItsTurn) {
  CountingLoader loader;
  loader.broken = 1;
  BatchFeed feed(loader, [] { return false; }, 1, 10);
  feed.take(0);
  EXPECT_FALSE(feed.ahead()) << "the step that runs goes on";
  EXPECT_THROW(feed.take(1), Error);
}

}  // namespace
}  // namespace trainyard
