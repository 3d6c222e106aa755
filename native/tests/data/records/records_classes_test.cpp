// Which classes shards have where labels leave gaps.
#include <gmock/gmock.h>

#include "records_support.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Gaps : public ::testing::Test {
 protected:
  Gaps() {
    std::string bytes;
    for (const int label : {0, 2, 3, 7})
      bytes += shard_of({example_of(static_cast<uint64_t>(label), label, names_[static_cast<size_t>(label)])});
    folder_.write("train.tfrecord", bytes);
    options_.on_note = [this](const std::string& line) { notes_.push_back(line); };
  }
  std::vector<std::string> classes() {
    notes_.clear();
    return open_dataset(folder_.path(), 16, options_)->class_names();
  }

  std::vector<std::string> names_{"a", "b", "c", "d", "e", "f", "g", "h"};
  TemporaryFolder folder_;
  DatasetOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(Gaps, are_named_and_the_others_keep_their_names) {
  EXPECT_THAT(classes(), ElementsAre("a", "1", "c", "d", "4", "5", "6", "h"));
  EXPECT_THAT(notes_,
              ElementsAre(AllOf(HasSubstr("4 of the labels 0 to 7"), HasSubstr("1, 4 to 6"), HasSubstr("labels.txt"))));
}

TEST_F(Gaps, that_labels_txt_names_are_meant) {
  folder_.write("labels.txt", "A\nB\nC\nD\nE\nF\nG\nH\n");
  EXPECT_EQ(classes().size(), 8U);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Gaps, of_an_evaluation_are_the_checkpoints_classes) {
  options_.trained = TrainedData{names_, 0};
  EXPECT_EQ(classes(), names_);
  EXPECT_THAT(notes_, IsEmpty());
}

}  // namespace
}  // namespace trainyard
