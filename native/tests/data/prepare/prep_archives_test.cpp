// Shards of archives: those of the folder they were made of, ImageNet's three files, and what is
// refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "common/files.h"
#include "prep_fixture.h"
#include "tests/data/records/records_support.h"
#include "tests/data/tar_support.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

namespace fs = std::filesystem;
using Files = std::vector<std::pair<std::string, std::string>>;

class PrepArchives : public PrepTest {
 protected:
  /// Names and contents of what is made, and nothing beside it.
  std::map<std::string, std::string> made() {
    prep(options_);
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(options_.to)) {
      files[entry.path().filename().string()] = read_file(entry.path().string());
    }
    fs::remove_all(options_.to);
    EXPECT_FALSE(fs::exists(options_.to + ".download"));
    return files;
  }

  /// Training images of two synsets, a tar of each in a tar, and six validation images of both,
  /// flat.
  void write_imagenet() {
    const auto synset = [](const std::string& name, uint64_t seed) {
      return tar_of({{name + "_9.JPEG", small_jpeg(seed)},
                     {name + "_10.JPEG", small_jpeg(seed + 1)},
                     {name + "_7.JPEG", small_jpeg(seed + 2)}});
    };
    options_.from =
        folder_.write("train.tar", tar_of({{"n02.tar", synset("n02", 20)}, {"n01.tar", synset("n01", 10)}}));
    Files images;
    for (uint64_t i = 6; i > 0; --i) images.emplace_back("val_" + std::to_string(i) + ".JPEG", small_jpeg(i));
    options_.validation_from = folder_.write("val.tar", tar_of(images));
    options_.labels = folder_.write("labels.txt", "n02\nn01\nn02\nn02\nn01\nn02\n");
  }

  std::vector<std::string> images(Split split) {
    const auto data = open_records_at(options_.to, std::nullopt, split);
    std::vector<std::string> found;
    for (size_t i = 0; i < data->size(); ++i) found.push_back(data->encoded(i));
    return found;
  }
};

TEST_F(PrepArchives, give_the_shards_of_their_folder) {
  Files files;
  uint64_t seed = 0;
  // Not in the folder's order, and with a class whose name is the beginning of another's.
  for (const char* name : {"rose", "a b", "a"}) {
    for (int i = 9; i > 0; --i)
      files.emplace_back(std::string(name) + "/" + std::to_string(i) + ".jpg", small_jpeg(++seed));
  }
  Files below;
  for (const auto& [path, bytes] : files) {
    folder_.write("folder/" + path, bytes);
    below.emplace_back("flower_photos/" + path, bytes);
  }
  below.emplace_back("flower_photos/LICENSE.txt", "free");
  below.emplace_back("flower_photos/cover.jpg", small_jpeg(999));  // beside the class folders: no part of the set
  options_.from = folder_.path() + "/folder";
  const auto expected = made();
  EXPECT_EQ(expected.size(), 5U);
  const std::string tar = tar_of(below);
  for (const std::string& path : {folder_.write("plain.tar", tar), folder_.write("below.tgz", gzipped(tar)),
                                  folder_.write("top.tar.gz", gzipped(tar_of(files), 9))}) {
    options_.from = path;
    EXPECT_EQ(made(), expected) << path;
  }
  EXPECT_TRUE(left_out_.empty());
}

TEST_F(PrepArchives, keep_halves_that_they_have) {
  const Files files{{"set/train/a/1.jpg", small_jpeg(1)},
                    {"set/train/b/1.jpg", small_jpeg(2)},
                    {"set/val/b/1.jpg", small_jpeg(3)},
                    {"set/test/b/1.jpg", small_jpeg(4)}};
  options_.shards = 1;
  options_.from = folder_.write("set.tar", tar_of(files));
  prep(options_);
  EXPECT_THAT(images(Split::training), ElementsAre(small_jpeg(1), small_jpeg(2)));
  EXPECT_THAT(images(Split::evaluation), ElementsAre(small_jpeg(3)));
  fs::remove_all(options_.to);
  options_.validation = 0.5;
  expect_error(Exit::usage, "Leave --validation out");
}

TEST_F(PrepArchives, leave_out_links_and_what_is_no_image) {
  options_.from = folder_.write("a.tar", tar_entry("a/1.jpg", small_jpeg(1)) + tar_entry("a/2.jpg", "", '1') +
                                             tar_entry("a/3.jpg", "text") + tar_end());
  options_.validation = 0;
  options_.shards = 1;
  EXPECT_EQ(prep(options_).left_out, 2);
  ASSERT_EQ(left_out_.size(), 2U);
  EXPECT_EQ(left_out_[0], "2.jpg: it is a link in the archive");
}

TEST_F(PrepArchives, take_imagenet_as_people_have_it) {
  write_imagenet();
  const PrepSummary summary = prep(options_);
  EXPECT_EQ(summary.train_images, 6);
  EXPECT_EQ(summary.validation_images, 6);
  EXPECT_THAT(summary.class_names, ElementsAre("n01", "n02"));
  EXPECT_THAT(images(Split::training), ElementsAre(small_jpeg(11), small_jpeg(12), small_jpeg(10), small_jpeg(21),
                                                   small_jpeg(22), small_jpeg(20)));
  EXPECT_THAT(images(Split::evaluation),
              ElementsAre(small_jpeg(2), small_jpeg(5), small_jpeg(1), small_jpeg(3), small_jpeg(4), small_jpeg(6)));
  EXPECT_THAT(labels_of(*open_records_at(options_.to, std::nullopt, Split::evaluation)), ElementsAre(0, 0, 1, 1, 1, 1));
}

TEST_F(PrepArchives, take_numbers_for_labels) {
  write_imagenet();
  const auto expected = made();
  options_.labels = folder_.write("labels.txt", "1\n0\n1\n1\n0\n1\n");
  EXPECT_EQ(made(), expected);
  options_.labels = folder_.write("labels.txt", "val_1.JPEG 1\nval_2 0\nx/val_3.JPEG 1\nval_4 1\nval_5 0\nval_6 1\n");
  EXPECT_EQ(made(), expected);
  // The development kit counts from 1, in an order of its own.
  options_.labels = folder_.write("labels.txt", "1\n2\n1\n1\n2\n1\n");
  expect_error(Exit::data, "Give --label-names FILE");
  options_.label_names = folder_.write("names.txt", "n02\nn01\n");
  EXPECT_EQ(made(), expected);
  options_.labels = folder_.write("labels.txt", "1\n3\n1\n1\n2\n1\n");
  expect_error(Exit::data, "label 3 in ");
}

TEST_F(PrepArchives, refuse_labels_that_do_not_belong) {
  write_imagenet();
  options_.labels = folder_.write("labels.txt", "n02\nn01\n");
  expect_error(Exit::data, "has 2 labels for the 6 images");
  options_.labels = folder_.write("labels.txt", "n02\nn01\nn02\nn02\nn01\nn07\n");
  expect_error(Exit::data, "class n07 of the validation half");
  options_.labels = folder_.write("labels.txt", "n02\nn01\nn02 n03 n04\nn02\nn01\nn02\n");
  expect_error(Exit::data, "line 3 of ");
  options_.labels = folder_.write("labels.txt", "val_2 1\nval_1 0\nval_3 1\nval_4 1\nval_5 0\nval_6 1\n");
  expect_error(Exit::data, "line 1 of ");
  options_.labels.clear();
  expect_error(Exit::data, "Give --labels FILE");
  options_.validation = 0.1;
  expect_error(Exit::usage, "Leave one of them out");
}

TEST_F(PrepArchives, refuse_what_holds_no_class_folders) {
  options_.from = folder_.write("a.tar", tar_of({{"box/n01/n01_1.xml", "<x/>"}}));
  expect_error(Exit::data, "bounding boxes");
  options_.from = folder_.write("a.tar", tar_of({{"x/a/1.jpg", ""}, {"x/a/2.jpg", ""}, {"b/1.jpg", ""}}));
  expect_error(Exit::data, "in x and in the top");
  options_.from = folder_.write("a.tar", tar_of({{"train/a/1.jpg", ""}, {"train/a/deep/2.jpg", ""}}));
  expect_error(Exit::data, "in train and in train/a");
  options_.from = folder_.write("a.tar", tar_end());
  expect_error(Exit::data, "is an empty archive");
}

TEST_F(PrepArchives, compare_sums) {
  options_.from = folder_.write("a.tar", tar_of({{"a/1.jpg", small_jpeg(1)}}));
  options_.shards = 1;
  options_.sha256 = std::string(64, '0');
  expect_error(Exit::data, "and not 0000");
  options_.sha256 = "00";
  expect_error(Exit::usage, "64 hexadecimal digits");
}

}  // namespace
}  // namespace trainyard
