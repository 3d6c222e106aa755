#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "common/error.h"
#include "support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/source.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.indices, b.indices);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.images, b.images);
}

void expect_same(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

/// 4 classes of 10 images, 13 global batches of 3 an epoch.
class Loaders : public ::testing::Test {
 protected:
  Loaders() {
    write_samples(folder_, 4, 10);
    data_ = open_dataset(folder_.path(), 16);
    options_.image_size = 16;
    options_.batch = 3;
    options_.seed = 5;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Dataset> data_;
  LoaderOptions options_;
};

TEST_F(Loaders, an_epoch_holds_each_image_once_and_the_next_has_another_order) {
  options_.batch = 10;
  const auto batches = take(*data_, options_, 0, 8);
  std::vector<size_t> first;
  std::vector<size_t> second;
  for (size_t i = 0; i < 8; ++i) {
    auto& epoch = i < 4 ? first : second;
    epoch.insert(epoch.end(), batches[i].indices.begin(), batches[i].indices.end());
    for (size_t k = 0; k < 10; ++k) EXPECT_EQ(batches[i].labels[k], data_->label(batches[i].indices[k]));
  }
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(std::set<size_t>(first.begin(), first.end()).size(), 40U);
  EXPECT_EQ(std::set<size_t>(second.begin(), second.end()).size(), 40U);
}

TEST_F(Loaders, a_rest_is_left_out_when_shuffling) {
  EXPECT_EQ(make_loader(*data_, options_)->steps_per_epoch(), 13);
  options_.world = 2;
  EXPECT_EQ(make_loader(*data_, options_)->steps_per_epoch(), 6);
}

TEST_F(Loaders, two_ranks_see_what_one_rank_of_twice_the_batch_sees) {
  options_.batch = 4;
  const auto whole = take(*data_, options_, 0, 25);
  options_.batch = 2;
  options_.world = 2;
  options_.rank = 0;
  const auto low = take(*data_, options_, 0, 25);
  options_.rank = 1;
  const auto high = take(*data_, options_, 0, 25);
  for (size_t i = 0; i < whole.size(); ++i) {
    Batch joined = low[i];
    joined.count += high[i].count;
    joined.images.insert(joined.images.end(), high[i].images.begin(), high[i].images.end());
    joined.labels.insert(joined.labels.end(), high[i].labels.begin(), high[i].labels.end());
    joined.indices.insert(joined.indices.end(), high[i].indices.begin(), high[i].indices.end());
    expect_same(whole[i], joined);
  }
}

TEST_F(Loaders, resuming_at_a_step_gives_the_batches_of_a_run_from_the_start) {
  const auto all = take(*data_, options_, 0, 40);
  for (const int64_t first : {1, 12, 13, 14, 30}) {
    expect_same(take(*data_, options_, first, 10), {all.begin() + first, all.begin() + first + 10});
  }
}

TEST_F(Loaders, threads_queue_and_cache_change_nothing) {
  const auto expected = take(*data_, options_, 0, 40);
  for (const int threads : {1, 2, 5}) {
    for (const int prefetch : {1, 3, 30}) {
      options_.threads = threads;
      options_.prefetch = prefetch;
      options_.cache = !options_.cache;
      expect_same(take(*data_, options_, 0, 40), expected);
    }
  }
}

TEST_F(Loaders, views_differ_by_epoch_and_seed) {
  options_.batch = 40;
  auto batches = take(*data_, options_, 0, 2);
  const auto pixels_of = [](const Batch& batch, size_t index) {
    const auto at = std::find(batch.indices.begin(), batch.indices.end(), index) - batch.indices.begin();
    return std::vector<uint8_t>(batch.images.begin() + at * 768, batch.images.begin() + (at + 1) * 768);
  };
  EXPECT_NE(pixels_of(batches[0], 7), pixels_of(batches[1], 7));
  options_.augment = Augment::none;
  batches = take(*data_, options_, 0, 2);
  EXPECT_EQ(pixels_of(batches[0], 7), pixels_of(batches[1], 7));
  const auto order = batches[0].indices;
  options_.seed = 6;
  EXPECT_NE(take(*data_, options_, 0, 1)[0].indices, order);
}

TEST_F(Loaders, without_shuffling_all_images_come_in_order) {
  options_.shuffle = false;
  options_.batch = 16;
  const auto loader = make_loader(*data_, options_);
  ASSERT_EQ(loader->steps_per_epoch(), 3);
  std::vector<size_t> seen;
  for (int64_t step = 0; step < 3; ++step) {
    Batch batch = loader->next(step);
    EXPECT_EQ(batch.count, step < 2 ? 16 : 8);
    EXPECT_EQ(batch.images.size(), static_cast<size_t>(batch.count) * 768);
    seen.insert(seen.end(), batch.indices.begin(), batch.indices.end());
    loader->recycle(std::move(batch));
  }
  std::vector<size_t> all(40);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(seen, all);
}

TEST_F(Loaders, without_shuffling_a_rank_may_have_nothing_left) {
  options_.shuffle = false;
  options_.batch = 12;
  options_.world = 3;
  for (options_.rank = 0; options_.rank < 3; ++options_.rank) {
    const auto batches = take(*data_, options_, 0, 2);
    EXPECT_EQ(batches[0].count, 12);
    EXPECT_EQ(batches[1].count, options_.rank == 0 ? 4 : 0);
  }
}

TEST_F(Loaders, synthetic_images_come_as_they_are) {
  const auto data = open_dataset("synthetic:7x16", 16);
  const Batch batch = take(*data, options_, 3, 1)[0];
  std::vector<uint8_t> pixels(768);
  for (size_t i = 0; i < 3; ++i) {
    data->pixels(batch.indices[i], 16, pixels.data());
    EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), batch.images.begin() + static_cast<ptrdiff_t>(i * 768)));
  }
}

TEST_F(Loaders, a_set_below_one_global_batch_names_the_batch_that_fits) {
  options_.batch = 64;
  options_.world = 3;
  try {
    make_loader(*data_, options_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr("Set --batch-size to 13 or less"));
  }
}

TEST_F(Loaders, steps_out_of_turn_are_a_defect_of_the_caller) {
  const auto loader = make_loader(*data_, options_);
  loader->next(4);
  EXPECT_THROW(loader->next(6), std::logic_error);
}

/// Counts what is read, and can fail as no image does.
class Watched : public Dataset {
 public:
  explicit Watched(const Dataset& inner) : inner_(inner) {}
  size_t size() const override { return inner_.size(); }
  const std::vector<std::string>& class_names() const override { return inner_.class_names(); }
  int32_t label(size_t index) const override { return inner_.label(index); }
  std::string name(size_t index) const override { return inner_.name(index); }
  std::string encoded(size_t index) const override {
    if (++reads > break_after) throw std::length_error("broken on purpose");
    return inner_.encoded(index);
  }
  bool pixels(size_t, int, uint8_t*) const override { return false; }

  mutable std::atomic<int> reads = 0;
  int break_after = 1 << 30;

 private:
  const Dataset& inner_;
};

TEST_F(Loaders, runs_ahead_by_the_queue_and_no_further_and_ends_at_once) {
  const Watched data(*data_);
  options_.prefetch = 5;
  options_.threads = 3;
  auto loader = make_loader(data, options_);
  loader->next(0);
  const int full = 6 * options_.batch;
  for (int waited = 0; data.reads < full && waited < 1000; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(data.reads, full);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(data.reads, full);
  const auto begin = std::chrono::steady_clock::now();
  loader.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(Loaders, begins_before_the_first_batch_is_asked_for) {
  const Watched data(*data_);
  const auto loader = make_loader(data, options_);
  loader->start(7);
  for (int waited = 0; data.reads < options_.prefetch * options_.batch && waited < 1000; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(data.reads, options_.prefetch * options_.batch);
  expect_same(loader->next(7), take(*data_, options_, 7, 1).front());
  EXPECT_THROW(loader->start(8), std::logic_error);
  EXPECT_THROW(loader->next(9), std::logic_error);
}

TEST_F(Loaders, can_go_before_its_first_step_and_amid_work) {
  make_loader(*data_, options_).reset();
  for (int i = 0; i < 30; ++i) {
    options_.threads = 1 + i % 3;
    take(*data_, options_, i, 1);
  }
}

TEST_F(Loaders, cached_images_are_read_once) {
  const Watched data(*data_);
  options_.cache = true;
  options_.batch = 10;
  take(data, options_, 0, 20);
  EXPECT_EQ(data.reads, 40);
}

TEST_F(Loaders, what_breaks_in_a_thread_reaches_the_consumer) {
  Watched data(*data_);
  data.break_after = 10;
  const auto loader = make_loader(data, options_);
  const auto read_on = [&] {
    for (int64_t step = 0; step < 20; ++step) loader->next(step);
  };
  EXPECT_THROW(read_on(), std::length_error);
}

class BadImages : public Loaders {
 protected:
  BadImages() {
    const std::string good = data_->encoded(0);
    folder_.write("class1/103.jpg", good.substr(0, good.size() / 2));
    folder_.write("class2/107.jpg", "");
    folder_.write("class3/101.jpg", "GIF89a and so on");
    options_.on_bad_image = [this](const std::string& path, const std::string& message) {
      told_.push_back(path.substr(folder_.path().size()) + ": " + message);
    };
    options_.max_bad_images = 3;
    options_.batch = 4;
  }
  std::vector<std::string> told_;
};

TEST_F(BadImages, are_told_of_once_and_replaced_by_the_next_of_the_order) {
  const auto batches = take(*data_, options_, 0, 30);
  std::sort(told_.begin(), told_.end());
  EXPECT_THAT(told_, ElementsAre("/class1/103.jpg: Premature end of JPEG file", "/class2/107.jpg: the file is empty",
                                 "/class3/101.jpg: it is a GIF file, and only JPEG and PNG are read"));
  const std::set<size_t> bad{13, 27, 31};
  std::vector<size_t> seen;
  for (size_t i = 0; i < 10; ++i) {
    for (const size_t index : batches[i].indices) {
      EXPECT_FALSE(bad.contains(index));
      seen.push_back(index);
    }
  }
  // What the order would have been, had all been readable: each stand-in is the one that follows
  // it.
  for (const size_t index : bad) {
    folder_.write("class" + std::to_string(index / 10) + "/" + std::to_string(100 + index % 10) + ".jpg",
                  data_->encoded(0));
  }
  std::vector<size_t> order;
  for (const Batch& batch : take(*data_, options_, 0, 10)) {
    order.insert(order.end(), batch.indices.begin(), batch.indices.end());
  }
  for (size_t i = 0; i < 40; ++i) {
    size_t at = i;
    while (bad.contains(order[at % 40])) ++at;
    EXPECT_EQ(seen[i], order[at % 40]);
  }
}

TEST_F(BadImages, are_replaced_alike_on_any_number_of_ranks_and_threads) {
  const auto whole = take(*data_, options_, 0, 20);
  options_.batch = 2;
  options_.world = 2;
  options_.threads = 3;
  options_.cache = true;
  options_.rank = 1;
  const auto high = take(*data_, options_, 0, 20);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(high[i].indices, std::vector<size_t>(whole[i].indices.begin() + 2, whole[i].indices.end()));
    EXPECT_EQ(high[i].images, std::vector<uint8_t>(whole[i].images.begin() + 2 * 768, whole[i].images.end()));
  }
}

TEST_F(BadImages, over_the_limit_end_the_run) {
  options_.max_bad_images = 2;
  const auto loader = make_loader(*data_, options_);
  try {
    for (int64_t step = 0; step < 20; ++step) loader->next(step);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("3 images"), HasSubstr(folder_.path() + "/class"), HasSubstr("--max-bad-images")));
  }
  EXPECT_EQ(told_.size(), 3U);
  EXPECT_THROW(loader->next(20), Error);
}

TEST_F(BadImages, a_set_of_nothing_else_ends_the_run_whatever_the_limit) {
  for (size_t i = 0; i < data_->size(); ++i) {
    folder_.write(data_->name(i).substr(folder_.path().size() + 1), "junk");
  }
  options_.max_bad_images = 1'000'000;
  EXPECT_THROW(take(*data_, options_, 0, 1), Error);
  options_.max_bad_images = 0;
  told_.clear();
  EXPECT_THROW(take(*data_, options_, 0, 1), Error);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(BadImages, a_file_that_went_away_counts) {
  std::remove(data_->name(5).c_str());
  options_.max_bad_images = 4;
  take(*data_, options_, 0, 10);
  EXPECT_THAT(told_, ::testing::Contains(AllOf(HasSubstr("/class0/105.jpg"), HasSubstr("no such file"))));
}

}  // namespace
}  // namespace trainyard
