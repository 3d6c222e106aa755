// Bounding boxes in shards: from each kind of source, by ranks, and what is refused.
#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <functional>
#include <thread>

#include "common/files.h"
#include "prep_fixture.h"
#include "tests/data/records/records_support.h"
#include "tests/data/tar_support.h"
#include "trainer/data/prepare/box_table.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;
using Files = std::vector<std::pair<std::string, std::string>>;

std::string object(int xmin, int ymin, int xmax, int ymax) {
  const auto tag = [](const std::string& name, int value) {
    return "<" + name + ">" + std::to_string(value) + "</" + name + ">";
  };
  return "<object><bndbox>" + tag("xmin", xmin) + tag("ymin", ymin) + tag("xmax", xmax) + tag("ymax", ymax) +
         "</bndbox></object>";
}

/// Of an image of 400 x 200 pixels.
std::string annotation(const std::string& objects) {
  return "<annotation><filename>%s</filename><size><width>400</width><height>200</height></size>" + objects +
         "</annotation>";
}

/// Training images n01_1 to n01_3 and n02_1 to n02_3, and a validation image val_1.
class PrepBoxes : public PrepTest {
 protected:
  PrepBoxes() {
    for (uint64_t i = 1; i <= 3; ++i) {
      folder_.write("from/train/n01/n01_" + std::to_string(i) + ".JPEG", small_jpeg(i));
      folder_.write("from/train/n02/n02_" + std::to_string(i) + ".JPEG", small_jpeg(10 + i));
    }
    folder_.write("from/validation/n02/val_1.JPEG", small_jpeg(20));
    options_.from = folder_.path() + "/from";
    options_.shards = 1;
  }

  static Files annotations() {
    return {{"./n02/n02_2.xml", annotation(object(100, 50, 300, 150) + object(0, 0, 400, 20))},
            {"./n01/n01_1.xml", annotation(object(-5, 100, 500, 300) + object(7, 7, 7, 7))},
            {"./n01/n01_77.xml", annotation(object(1, 1, 2, 2) + object(2, 2, 3, 3))},
            {"./n01/n01_3.xml", annotation("")},
            {"./n01/._n01_2.xml", "no XML"},
            {"./n01/readme.txt", "no XML"}};
  }

  /// Each training image's boxes, in the order of the shard.
  std::vector<std::vector<Box>> boxes(Split split = Split::training) const {
    DatasetOptions options;
    options.split = split;
    options.boxes = true;
    const auto data = open_dataset(options_.to, 16, options);
    std::vector<std::vector<Box>> all;
    for (size_t i = 0; i < data->size(); ++i) all.emplace_back(data->boxes(i).begin(), data->boxes(i).end());
    return all;
  }

  void expect_boxes() {
    const PrepSummary summary = prep(options_);
    ASSERT_TRUE(summary.boxes);
    EXPECT_EQ(summary.boxes->images, 2);
    EXPECT_EQ(summary.boxes->unmatched, 2);
    EXPECT_EQ(summary.boxes->without_area, 1);
    EXPECT_THAT(boxes(), ElementsAre(ElementsAre(Box{0, 0.5F, 1, 1}), IsEmpty(), IsEmpty(), IsEmpty(),
                                     ElementsAre(Box{0.25F, 0.25F, 0.75F, 0.75F}, Box{0, 0, 1, 0.1F}), IsEmpty()));
    fs::remove_all(options_.to);
  }

  std::string shard(const std::string& name) const { return read_file(options_.to + "/" + name); }
};

TEST_F(PrepBoxes, come_from_archives_and_folders_of_annotations) {
  const std::string tar = tar_of(annotations());
  options_.boxes = folder_.write("boxes.tar", tar);
  expect_boxes();
  options_.boxes = folder_.write("boxes.tar.gz", gzipped(tar));
  expect_boxes();
  for (const auto& [path, xml] : annotations()) folder_.write("boxes/" + path, xml);
  options_.boxes = folder_.path() + "/boxes";
  expect_boxes();
  EXPECT_THAT(left_out_, IsEmpty());
}

TEST_F(PrepBoxes, come_from_the_lists_of_googles_script) {
  // The lines of an image need not stand together.
  options_.boxes = folder_.write("boxes.csv",
                                 "n02_2.JPEG,0.2500,0.2500,0.7500,0.7500\nn01_1.JPEG,0.0,0.5,1,1\r\n"
                                 "n01_77.JPEG,0,0,0.5,0.5\nn01_77.JPEG,0,0,0.5,0.25\nn02_2.JPEG,0,0,1,0.1\n"
                                 "n01_2.JPEG,0.3,0.3,0.3,0.4");
  expect_boxes();
}

TEST_F(PrepBoxes, leave_all_else_as_it_was) {
  prep(options_);
  const std::string train = shard("train-00000-of-00001");
  const std::string validation = shard("validation-00000-of-00001");
  fs::remove_all(options_.to);
  options_.boxes = folder_.write("boxes.tar", tar_of(annotations()));
  prep(options_);
  EXPECT_EQ(shard("validation-00000-of-00001"), validation);
  EXPECT_NE(shard("train-00000-of-00001"), train);
  // An image without boxes has the record that it had.
  const auto plain = [](const std::string& text) { return text.substr(text.rfind(std::string("n02/n02_3"))); };
  EXPECT_EQ(plain(shard("train-00000-of-00001")), plain(train));
}

TEST_F(PrepBoxes, are_written_as_inception_reads_them) {
  options_.boxes = folder_.write("boxes.csv", "n02_1.JPEG,0.25,0.5,1,0.75\nval_1.JPEG,0,0,1,1\n");
  prep(options_);
  const auto floats = [](const std::string& name, std::initializer_list<float> values) {
    std::string packed;
    for (const float value : values) packed.append(reinterpret_cast<const char*>(&value), sizeof value);
    return bytes_field(1, feature(name, 2, bytes_field(1, packed))).substr(2);
  };
  const std::string text = shard("train-00000-of-00001");
  EXPECT_THAT(text, HasSubstr(floats("image/object/bbox/xmin", {0.25F}).substr(1)));
  EXPECT_THAT(text, HasSubstr(floats("image/object/bbox/ymax", {0.75F}).substr(1)));
  const std::string label = feature("image/object/bbox/label", 3, bytes_field(1, varint(1)));
  EXPECT_THAT(text, HasSubstr(label));
  EXPECT_THAT(boxes(Split::evaluation), ElementsAre(ElementsAre(Box{0, 0, 1, 1})));
}

TEST_F(PrepBoxes, name_files_that_are_no_annotations) {
  Files files = annotations();
  files.emplace_back("n02/n02_1.xml", "<annotation>");
  files.emplace_back("n02/n02_3.xml", std::string((size_t{1} << 20) + 1, ' '));
  options_.boxes = folder_.write("boxes.tar", tar_of(files));
  EXPECT_EQ(prep(options_).boxes->no_annotation, 2);
  EXPECT_THAT(left_out_, ElementsAre("n02_1.xml: it is cut short, or no XML", "n02_3.xml: it has more than 1 MiB"));
  fs::remove_all(options_.to);
  for (int i = 0; i < 100; ++i) files.emplace_back("n02/x" + std::to_string(i) + ".xml", "");
  options_.boxes = folder_.write("boxes.tar", tar_of(files));
  expect_error(Exit::data, "more than 100 files are no annotations");
}

TEST_F(PrepBoxes, name_lines_that_are_none) {
  for (const char* bad : {"n01_1.JPEG,0,0,1", "n01_1.JPEG,0,0,1,1,1", "n01_1.JPEG,0,0,1,2", "n01_1.JPEG,0,0,nan,1",
                          "n01_1.JPEG,0,0,,1", ",0,0,1,1", "", "<annotation/>", "\xff\xfe\x01"}) {
    options_.boxes = folder_.write("boxes.csv", "n01_1.JPEG,0,0,1,1\n" + std::string(bad) + "\n");
    expect_error(Exit::data, "line 2 of ");
  }
  options_.boxes = folder_.write("boxes.csv", std::string(3U << 20, 'x'));
  expect_error(Exit::data, "line 1 of ");
  options_.boxes = folder_.write("boxes.csv", std::string(300, 'x') + ".JPEG,0,0,1,1");
  expect_error(Exit::data, "a name of 300 bytes");
}

TEST_F(PrepBoxes, that_there_are_not_are_refused) {
  options_.boxes = folder_.path() + "/nothing";
  expect_error(Exit::usage, "does not exist");
  options_.boxes = folder_.write("boxes.csv", "");
  expect_error(Exit::data, "has no bounding box");
  options_.boxes = folder_.write("boxes.tar", tar_of({{"a/1.xml", annotation("")}, {"a/1.jpg", "x"}}));
  expect_error(Exit::data, "has no bounding box");
  options_.boxes = folder_.make("empty");
  expect_error(Exit::data, "has no bounding box");
  options_.boxes = folder_.write("boxes.csv", "n01_1.JPEG,0.5,0.5,0.5,0.5\n");
  expect_error(Exit::data, "with an area, and 1 without one");
  options_.boxes = folder_.write("boxes.tar.gz", gzipped(tar_of(annotations())).substr(0, 200));
  expect_error(Exit::data, "ends early");
}

TEST_F(PrepBoxes, that_are_of_other_images_are_refused) {
  options_.boxes = folder_.write("boxes.csv", "n99_1.JPEG,0,0,1,1\n");
  expect_error(Exit::data, "no image has boxes in ");
  options_.boxes = folder_.write("boxes.csv", "n01_1.JPEG,0,0,1,1\n");
  folder_.write("from/train/n02/n01_1.png", small_jpeg(3));
  expect_error(Exit::data, "may be of two images, n01/n01_1.JPEG and n02/n01_1.png");
}

TEST_F(PrepBoxes, are_for_shards_of_images_that_are_there) {
  options_.boxes = folder_.write("boxes.csv", "n01_1.JPEG,0,0,1,1\n");
  options_.shards = 0;
  expect_error(Exit::usage, "Add --shards N");
  options_.from = "demo:3x10";
  expect_error(Exit::usage, "Leave --boxes out");
  options_.shards = 2;
  expect_error(Exit::usage, "Leave --boxes out");
}

TEST_F(PrepBoxes, of_several_ranks_are_those_of_one) {
  options_.boxes = folder_.write("boxes.tar", tar_of(annotations()));
  options_.shards = 3;
  options_.validation = 0;
  prep(options_);
  const auto alone = files_of(options_.to);
  fs::remove_all(options_.to);
  ThreadSum sum(2);
  options_.ranks.world = 2;
  options_.ranks.sum = std::ref(sum);
  std::array<PrepSummary, 2> summaries;
  const auto part = [&](int rank) {
    PrepOptions own = options_;
    own.ranks.rank = rank;
    summaries[static_cast<size_t>(rank)] = prep(own);
  };
  std::thread other(part, 1);
  part(0);
  other.join();
  EXPECT_EQ(summaries[0].boxes->images, 2);
  EXPECT_EQ(summaries[0].boxes->unmatched, 2);
  for (const auto& [name, bytes] : alone) EXPECT_EQ(shard(name), bytes) << name;
}

TEST(BoxTables, find_by_name_what_was_added_in_any_order) {
  BoxTable table;
  const Box a{0, 0, 1, 1};
  const Box b{0, 0, 0.5F, 1};
  for (const char* name : {"tulip", "rose", "lily", "rose", "aster"}) table.add(name, {name[0] == 't' ? &b : &a, 1});
  table.add("lily", {&b, 1});
  table.finish();
  EXPECT_EQ(table.images(), 4U);
  EXPECT_EQ(table.boxes(), 6U);
  EXPECT_THAT(table.of(table.find("rose").value()), ElementsAre(a, a));
  EXPECT_THAT(table.of(table.find("lily").value()), ElementsAre(a, b));
  EXPECT_THAT(table.of(table.find("tulip").value()), ElementsAre(b));
  for (const char* name : {"", "ros", "roses", "zinnia"}) EXPECT_FALSE(table.find(name)) << name;
  const std::vector<Box> many(kMostBoxesOfImage, a);
  table.add("peony", many);
  table.finish();
  table.add("peony", {&b, 1});
  EXPECT_THROW(table.finish(), Error);
  EXPECT_EQ(image_stem("n01440764/n01440764_10040.JPEG"), "n01440764_10040");
  EXPECT_EQ(image_stem("a.b/c"), "c");
}

}  // namespace
}  // namespace trainyard
