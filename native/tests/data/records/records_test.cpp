// Shards as data sets: which are taken, what their labels mean, and that they give what class
// folders give.
#include <gmock/gmock.h>

#include "common/error.h"
#include "records_support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_data_error(const std::string& spec, const ::testing::Matcher<std::string>& text,
                       const DatasetOptions& options = {}) {
  try {
    open_dataset(spec, 16, options);
    ADD_FAILURE() << "no error for " << spec;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(std::string(error.what()), AllOf(text, HasSubstr(". ")));
  }
}

std::vector<std::string> names_of(const Dataset& data) {
  std::vector<std::string> names;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string name = data.name(i);
    names.push_back(name.substr(name.rfind('/') + 1));
  }
  return names;
}

TEST(Records, come_back_as_they_were_written) {
  const TemporaryFolder folder;
  folder.write("d/train-00000-of-00002", shard_of({example_of(1, 0), example_of(2, 2)}));
  folder.write("d/train-00001-of-00002", shard_of({example_of(3, 1)}));
  const auto data = open_records_at(folder.path() + "/d/");
  EXPECT_THAT(labels_of(*data), ElementsAre(0, 2, 1));
  EXPECT_THAT(data->class_names(), ElementsAre("0", "1", "2"));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(data->encoded(i), small_jpeg(i + 1));
  const size_t first = shard_of({example_of(1, 0)}).size();
  EXPECT_THAT(names_of(*data),
              ElementsAre("train-00000-of-00002 at byte 0", "train-00000-of-00002 at byte " + std::to_string(first),
                          "train-00001-of-00002 at byte 0"));
}

TEST(Records, of_a_folder_of_several_kinds_are_chosen_by_purpose_or_name) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, int64_t label) {
    folder.write("d/" + name, shard_of({example_of(1, 0), example_of(2, label)}));
  };
  write("flowers_train_00000-of-00001.tfrecord", 1);
  write("flowers_validation_00000-of-00001.tfrecord", 2);
  write("flowers_test_00000-of-00001.tfrecord", 3);
  folder.write("d/labels.txt", "a\nb\nc\nd\n");
  folder.write("d/flowers_train.tfrecord.json", "no shard");
  const std::string spec = folder.path() + "/d";
  const auto last = [&](const std::string& name, Split split) {
    return open_records_at(name, std::nullopt, split)->label(1);
  };
  EXPECT_EQ(last(spec, Split::training), 1);
  EXPECT_EQ(last(spec, Split::evaluation), 2);
  EXPECT_EQ(last(spec + "/validation", Split::training), 2);
  EXPECT_EQ(last(spec + "/train", Split::evaluation), 1);
  EXPECT_EQ(last(spec + "/flowers_test", Split::training), 3);
  EXPECT_EQ(last(spec + "/flowers_test_00000-of-00001.tfrecord", Split::training), 3);
  expect_data_error(spec + "/nothing", HasSubstr("does not exist"));
}

TEST(Records, are_known_by_the_names_that_tutorials_give_them) {
  for (const char* name :
       {"train-00000-of-00001", "train_00000-of-00001.tfrecord", "tf_flowers-train.tfrecord-00000-of-00001",
        "images.tfrecords", "flowers00-193.tfrec", "train.tfrecord"}) {
    const TemporaryFolder folder;
    folder.write(name, shard_of({example_of(1, 0), example_of(2, 1)}));
    EXPECT_EQ(open_records_at(folder.path())->size(), 2U) << name;
  }
}

TEST(Records, a_missing_shard_is_named) {
  const TemporaryFolder folder;
  const std::string shard = shard_of({example_of(1, 0)});
  folder.write("d/train-00000-of-00004", shard);
  folder.write("d/train-00003-of-00004", shard);
  expect_data_error(folder.path() + "/d", AllOf(HasSubstr("2 of the 4 shards train"), HasSubstr("number 1")));
  EXPECT_EQ(open_records_at(folder.path() + "/d/train-00003-of-00004")->size(), 1U);
  folder.write("two/train-00000-of-00001", shard);
  folder.write("two/train-00000-of-00002", shard);
  folder.write("two/train-00001-of-00002", shard);
  expect_data_error(folder.path() + "/two", HasSubstr("one of 1 files and one of 2"));
  folder.write("mixed/validation.tfrecord", shard);
  folder.write("mixed/test.tfrecord", shard);
  expect_data_error(folder.path() + "/mixed", HasSubstr("cannot tell which"));
}

TEST(Records, labels_from_one_need_a_word_on_it) {
  const TemporaryFolder folder;
  folder.write("d/train.tfrecord", shard_of({example_of(1, 2), example_of(2, 1)}));
  const std::string spec = folder.path() + "/d";
  expect_data_error(spec, AllOf(HasSubstr("the smallest label in the shards is 1"), HasSubstr("--label-offset 1"),
                                HasSubstr("--label-offset 0")));
  EXPECT_THAT(labels_of(*open_records_at(spec, 1)), ElementsAre(1, 0));
  EXPECT_EQ(open_records_at(spec, 1)->class_names().size(), 2U);
  EXPECT_THAT(labels_of(*open_records_at(spec, 0)), ElementsAre(2, 1));
  EXPECT_EQ(open_records_at(spec, 0)->class_names().size(), 3U);
  DatasetOptions two;
  two.label_offset = 2;
  expect_data_error(spec, AllOf(HasSubstr("label 1"), HasSubstr("below 2"), HasSubstr("at byte")), two);
  // labels.txt that begins at 0 and reaches beyond the last label answers the question.
  folder.write("d/labels.txt", "0:a\n1:b\n2:c\n");
  EXPECT_THAT(labels_of(*open_records_at(spec)), ElementsAre(2, 1));
  folder.write("d/labels.txt", "0:background\n1:b\n2:c\n");
  expect_data_error(spec, HasSubstr("--label-offset"));
  EXPECT_THAT(open_records_at(spec, 1)->class_names(), ElementsAre("b", "c"));
  folder.write("d/labels.txt", "b\nc\n");
  expect_data_error(spec, HasSubstr("--label-offset"));
  EXPECT_THAT(open_records_at(spec, 1)->class_names(), ElementsAre("b", "c"));
}

TEST(Records, classes_are_called_by_labels_txt_else_by_their_records_else_by_number) {
  const TemporaryFolder folder;
  folder.write("d/train.tfrecord", shard_of({example_of(1, 0, "rose"), example_of(2, 1, "tulip")}));
  const std::string spec = folder.path() + "/d";
  EXPECT_THAT(open_records_at(spec)->class_names(), ElementsAre("rose", "tulip"));
  folder.write("d/label.labels.txt", "Rose\r\nTulip\r\nLily\r\n\r\n");
  EXPECT_THAT(open_records_at(spec)->class_names(), ElementsAre("Rose", "Tulip", "Lily"));
  folder.write("d/labels.txt", "0:A\n2:C\n");
  EXPECT_THAT(open_records_at(spec)->class_names(), ElementsAre("A", "1", "C"));
  folder.write("d/labels.txt", "A\n");
  expect_data_error(spec, AllOf(HasSubstr("label 1"), HasSubstr("beyond the 1 classes"), HasSubstr("labels.txt")));
  folder.write("d/labels.txt", "");
  expect_data_error(spec, HasSubstr("is empty"));
  folder.write("same/train.tfrecord", shard_of({example_of(1, 0, "rose"), example_of(2, 1, "rose")}));
  EXPECT_THAT(open_records_at(folder.path() + "/same")->class_names(), ElementsAre("0", "1"));
}

TEST(Records, an_evaluation_set_without_the_last_class_has_the_checkpoints_classes) {
  const TemporaryFolder folder;
  folder.write("plain/validation.tfrecord", shard_of({example_of(1, 1)}));
  DatasetOptions options;
  options.trained = TrainedData{{"a", "b", "c"}, 0};
  const auto data = open_dataset(folder.path() + "/plain", 16, options);
  EXPECT_THAT(data->class_names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(labels_of(*data), ElementsAre(1));
  options.trained->label_offset = 1;
  EXPECT_THAT(labels_of(*open_dataset(folder.path() + "/plain", 16, options)), ElementsAre(0));
  folder.write("named/validation.tfrecord", shard_of({example_of(1, 1, "B")}));
  options.trained->label_offset = 0;
  EXPECT_THAT(open_dataset(folder.path() + "/named", 16, options)->class_names(), ElementsAre("a", "B", "c"));
  folder.write("more/validation.tfrecord", shard_of({example_of(1, 3)}));
  expect_data_error(folder.path() + "/more", HasSubstr("beyond the 3 classes of the checkpoint"), options);
}

TEST(Records, an_offset_is_for_records_only) {
  const TemporaryFolder folder;
  write_samples(folder, 2, 1);
  try {
    open_records_at(folder.path(), 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
  }
}

/// The same images in class folders and as shards.
class BothWays : public ::testing::Test {
 protected:
  BothWays() {
    PrepOptions options;
    options.from = "demo:4x12";
    options.image_size = 24;
    options.to = folder_.path() + "/folders";
    prep(options);
    options.to = folder_.path() + "/shards";
    options.shards = 3;
    made_ = prep(options);
    options_.image_size = 16;
    options_.batch = 3;
    options_.seed = 9;
  }

  TemporaryFolder folder_;
  PrepSummary made_;
  LoaderOptions options_;
};

TEST_F(BothWays, give_the_same_batches_over_epochs_and_after_a_resume) {
  const auto folders = open_records_at(folder_.path() + "/folders/train");
  const auto shards = open_records_at(folder_.path() + "/shards");
  ASSERT_EQ(folders->size(), 40U);
  ASSERT_EQ(shards->size(), 40U);
  EXPECT_EQ(folders->class_names(), shards->class_names());
  for (const auto& [first, steps] : {std::pair<int64_t, int64_t>{0, 30}, {17, 9}}) {
    const auto a = take(*folders, options_, first, steps);
    options_.threads = 3;
    const auto b = take(*shards, options_, first, steps);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].indices, b[i].indices);
      EXPECT_EQ(a[i].labels, b[i].labels);
      EXPECT_EQ(a[i].images, b[i].images);
    }
  }
}

TEST_F(BothWays, count_alike) {
  EXPECT_EQ(made_.train_images, 40);
  EXPECT_EQ(made_.validation_images, 8);
  EXPECT_THAT(made_.class_names, ElementsAre("circle", "square", "star", "triangle"));
  EXPECT_EQ(open_records_at(folder_.path() + "/shards", std::nullopt, Split::evaluation)->size(), 8U);
}

}  // namespace
}  // namespace trainyard
