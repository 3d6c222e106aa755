// Shards that several ranks make together: the same bytes as those of one, and nothing half-made
// where one of them fails. The ranks are threads here; test/local/files/records.test.ts has real ones.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "common/files.h"
#include "prep_fixture.h"
#include "tests/data/records/records_support.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

/// What one rank came to.
struct Outcome {
  PrepSummary summary;
  std::string error;
};

class PrepTogether : public PrepTest {
 protected:
  PrepTogether() {
    options_.shards = 4;
    options_.shuffle = true;
    for (int i = 0; i < 20; ++i) write("from", i);
    options_.from = folder_.path() + "/from";
  }

  void write(const std::string& from, int i) {
    folder_.write(from + (i % 2 == 0 ? "/a/" : "/b/") + std::to_string(100 + i) + ".jpg", small_jpeg(i));
  }

  /// With these options of each rank.
  std::vector<Outcome> run(const std::vector<PrepOptions>& each) {
    const auto world = static_cast<int>(each.size());
    ThreadSum sum(world);
    std::vector<Outcome> outcomes(each.size());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world; ++rank) {
      threads.emplace_back([&, rank] {
        PrepOptions options = each[static_cast<size_t>(rank)];
        options.ranks = {rank, world, std::ref(sum)};
        Outcome& outcome = outcomes[static_cast<size_t>(rank)];
        try {
          outcome.summary = prep(options);
        } catch (const Error& error) {
          outcome.error = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
};

TEST_F(PrepTogether, the_shards_are_those_of_one_rank) {
  folder_.write("from/a/odd.jpg", "no image");
  PrepOptions alone = options_;
  alone.to = folder_.path() + "/alone";
  prep(alone);
  const std::vector<Outcome> outcomes = run({options_, options_, options_});
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcomes[0].summary.train_images + outcomes[0].summary.validation_images, 20);
  EXPECT_EQ(outcomes[0].summary.left_out, 1);
  EXPECT_EQ(files_of(options_.to), files_of(alone.to));
  EXPECT_FALSE(fs::exists(options_.to + ".partial"));
}

TEST_F(PrepTogether, more_ranks_than_shards) {
  options_.shards = 1;
  const std::vector<Outcome> outcomes = run({options_, options_, options_});
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(files_of(options_.to).size(), 3);
}

TEST_F(PrepTogether, ranks_with_other_files_make_nothing) {
  for (int i = 0; i < 18; ++i) write("less", i);
  PrepOptions other = options_;
  other.from = folder_.path() + "/less";
  const std::vector<Outcome> outcomes = run({options_, other});
  EXPECT_THAT(outcomes[0].error, HasSubstr("rank 0 finds 20 images"));
  EXPECT_THAT(outcomes[1].error, HasSubstr("rank 1 finds 18 images"));
  EXPECT_FALSE(fs::exists(options_.to));
  EXPECT_FALSE(fs::exists(options_.to + ".partial"));
}

TEST_F(PrepTogether, a_rank_that_fails_leaves_nothing) {
  PrepOptions apart = options_;
  apart.to = folder_.path() + "/elsewhere";
  const std::vector<Outcome> outcomes = run({options_, apart});
  EXPECT_THAT(outcomes[0].error, HasSubstr("another rank could not do its part"));
  EXPECT_THAT(outcomes[1].error, HasSubstr("elsewhere.partial, which rank 0 has made, is not there"));
  EXPECT_FALSE(fs::exists(options_.to));
  EXPECT_FALSE(fs::exists(options_.to + ".partial"));
}

TEST_F(PrepTogether, a_folder_that_holds_something_is_refused_by_all) {
  folder_.write("to/mine", "x");
  const std::vector<Outcome> outcomes = run({options_, options_});
  EXPECT_THAT(outcomes[0].error, HasSubstr("exists and is not empty"));
  EXPECT_THAT(outcomes[1].error, HasSubstr("another rank could not do its part"));
  EXPECT_EQ(read_file(options_.to + "/mine"), "x");
}

TEST_F(PrepTogether, is_for_shards_of_what_is_there) {
  options_.ranks.world = 2;
  options_.from = "https://127.0.0.1:9/x.tar";
  expect_error(Exit::usage, "nothing is downloaded");
  options_.from = "demo:2x10";
  expect_error(Exit::usage, "2 ranks make TFRecord shards only");
}

}  // namespace
}  // namespace trainyard
