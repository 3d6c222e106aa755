// Class folders into shards: halves, labels, what is left out, and that nothing half-made stays.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "common/files.h"
#include "prep_fixture.h"
#include "tests/data/records/records_support.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class PrepShards : public PrepTest {
 protected:
  PrepShards() { options_.from = folder_.path() + "/from"; }

  void write(const std::string& below, const std::vector<std::string>& classes, int images) {
    for (const std::string& name : classes) {
      for (int i = 0; i < images; ++i) {
        folder_.write("from/" + below + name + "/" + std::to_string(100 + i) + ".jpg", small_jpeg(seed_++));
      }
    }
  }

  std::set<std::string> made() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(options_.to)) names.insert(entry.path().filename().string());
    return names;
  }

  /// The images of a half, as they stand in the records.
  std::multiset<std::string> images(Split split) const {
    const auto data = open_records_at(options_.to, std::nullopt, split);
    std::multiset<std::string> found;
    for (size_t i = 0; i < data->size(); ++i) found.insert(std::to_string(data->label(i)) + data->encoded(i));
    return found;
  }

  uint64_t seed_ = 0;
};

TEST_F(PrepShards, splits_class_folders_by_the_seed) {
  write("", {"b", "a"}, 10);
  const PrepSummary summary = prep(options_);
  EXPECT_EQ(summary.train_images, 16);
  EXPECT_EQ(summary.validation_images, 4);
  EXPECT_THAT(made(), ElementsAre("labels.txt", "train-00000-of-00002", "train-00001-of-00002",
                                  "validation-00000-of-00002", "validation-00001-of-00002"));
  EXPECT_EQ(read_file(options_.to + "/labels.txt"), "0:a\n1:b\n");
  auto all = images(Split::training);
  const auto validation = images(Split::evaluation);
  EXPECT_THAT(labels_of(*open_records_at(options_.to, std::nullopt, Split::evaluation)), ElementsAre(0, 0, 1, 1));
  all.insert(validation.begin(), validation.end());
  std::multiset<std::string> expected;
  for (uint64_t i = 0; i < 20; ++i) expected.insert((i < 10 ? "1" : "0") + small_jpeg(i));
  EXPECT_EQ(all, expected);
  const auto first = validation;
  fs::remove_all(options_.to);
  options_.threads = 3;
  prep(options_);
  EXPECT_EQ(images(Split::evaluation), first);
  fs::remove_all(options_.to);
  options_.seed = 2;
  prep(options_);
  EXPECT_NE(images(Split::evaluation), first);
}

TEST_F(PrepShards, takes_halves_that_stand_apart_with_the_labels_of_the_training_one) {
  write("train/", {"a", "b", "c"}, 4);
  write("val/", {"c"}, 2);
  prep(options_);
  EXPECT_THAT(labels_of(*open_records_at(options_.to)), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2));
  EXPECT_THAT(labels_of(*open_records_at(options_.to, std::nullopt, Split::evaluation)), ElementsAre(2, 2));
  fs::remove_all(options_.to);
  write("val/", {"d"}, 2);
  expect_error(Exit::data, "class d");
  options_.validation = 0.3;
  expect_error(Exit::usage, "Leave --validation out");
}

TEST_F(PrepShards, mixes_records_on_request) {
  write("", {"a", "b"}, 20);
  options_.validation = 0;
  prep(options_);
  const auto sorted = labels_of(*open_records_at(options_.to));
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  const auto before = images(Split::training);
  fs::remove_all(options_.to);
  options_.shuffle = true;
  prep(options_);
  const auto mixed = labels_of(*open_records_at(options_.to));
  EXPECT_FALSE(std::is_sorted(mixed.begin(), mixed.end()));
  EXPECT_EQ(images(Split::training), before);
}

TEST_F(PrepShards, leaves_out_what_is_no_image_and_gives_up_when_it_is_much) {
  write("", {"a", "b"}, 3);
  folder_.write("from/a/empty.jpg", "");
  folder_.write("from/b/text.jpg", "no image");
  options_.validation = 0;
  const PrepSummary summary = prep(options_);
  EXPECT_EQ(summary.train_images, 6);
  EXPECT_EQ(summary.left_out, 2);
  std::sort(left_out_.begin(), left_out_.end());
  ASSERT_EQ(left_out_.size(), 2U);
  EXPECT_THAT(left_out_[0], HasSubstr("empty.jpg: the file is empty"));
  EXPECT_THAT(left_out_[1], HasSubstr("text.jpg: "));
  fs::remove_all(options_.to);
  for (int i = 0; i < 99; ++i) folder_.write("from/b/x" + std::to_string(i) + ".jpg", "x");
  expect_error(Exit::data, "more than 100 files are no readable images");
}

TEST_F(PrepShards, refuses_what_makes_no_shards) {
  expect_error(Exit::usage, "names no source of images");
  write("", {"a", "b"}, 4);
  options_.shards = 3;
  expect_error(Exit::usage, "the 2 images of the validation half. Set it to 2 or less");
  options_.shards = -1;
  expect_error(Exit::usage, "--shards");
  options_.shards = 0;
  expect_error(Exit::usage, "Add --shards N");
  options_.shards = 1;
  folder_.write("to/mine.txt", "mine");
  EXPECT_THROW(prep(options_), Error);
  EXPECT_EQ(read_file(options_.to + "/mine.txt"), "mine");
}

TEST_F(PrepShards, leaves_nothing_behind_when_the_disk_is_full) {
  write("", {"a", "b"}, 4);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{2000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  std::string message;
  try {
    prep(options_);
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, AllOf(HasSubstr("train-0000"), HasSubstr("File too large")));
  EXPECT_FALSE(fs::exists(options_.to));
  EXPECT_FALSE(fs::exists(options_.to + ".partial"));
}

TEST_F(PrepShards, drawn_images_are_those_of_the_folders) {
  options_.from = "demo:2x10";
  prep(options_);
  EXPECT_THAT(made(), ElementsAre("labels.txt", "train-00000-of-00002", "train-00001-of-00002",
                                  "validation-00000-of-00002", "validation-00001-of-00002"));
  PrepOptions folders = options_;
  folders.shards = 0;
  folders.to = folder_.path() + "/folders";
  prep(folders);
  const auto data = open_records_at(folders.to + "/train");
  std::multiset<std::string> expected;
  for (size_t i = 0; i < data->size(); ++i) expected.insert(std::to_string(data->label(i)) + data->encoded(i));
  EXPECT_EQ(images(Split::training), expected);
}

}  // namespace
}  // namespace trainyard
