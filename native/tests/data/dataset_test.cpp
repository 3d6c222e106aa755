#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "common/error.h"
#include "support.h"
#include "trainer/data/source.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_error(const std::string& spec, Exit code, const ::testing::Matcher<std::string>& text) {
  try {
    open_dataset(spec, 32);
    ADD_FAILURE() << "no error for " << spec;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(std::string(error.what()), AllOf(text, HasSubstr(". "), Not(HasSubstr("\n"))));
  }
}

TEST(FolderData, is_sorted_by_bytes_and_leaves_out_what_is_no_image) {
  const TemporaryFolder folder;
  for (const char* name : {"b/2.jpg", "b/10.JPG", "b/a.JpEg", "b/.hidden.jpg", "b/notes.txt", "B/1.jpeg", "a_/1.jpg",
                           "a/1.jpg", ".hidden/1.jpg", "readme.txt"}) {
    folder.write(name, "x");
  }
  folder.make("b/folder.jpg");
  const auto data = open_dataset(folder.path() + "/", 32);
  EXPECT_THAT(data->class_names(), ElementsAre("B", "a", "a_", "b"));
  std::vector<std::string> names;
  std::vector<int> labels;
  for (size_t i = 0; i < data->size(); ++i) {
    names.push_back(data->name(i).substr(folder.path().size()));
    labels.push_back(data->label(i));
  }
  EXPECT_THAT(names, ElementsAre("/B/1.jpeg", "/a/1.jpg", "/a_/1.jpg", "/b/10.JPG", "/b/2.jpg", "/b/a.JpEg"));
  EXPECT_THAT(labels, ElementsAre(0, 1, 2, 3, 3, 3));
  EXPECT_EQ(data->encoded(0), "x");
}

TEST(FolderData, says_what_is_wrong_and_what_to_do) {
  const TemporaryFolder folder;
  expect_error(folder.path() + "/none", Exit::data, HasSubstr(folder.path() + "/none does not exist"));
  expect_error(folder.write("file.jpg", "x"), Exit::data, HasSubstr("is a file"));
  expect_error(folder.make("empty"), Exit::data, HasSubstr("no class folders"));
  folder.write("flat/1.jpg", "x");
  expect_error(folder.path() + "/flat", Exit::data, HasSubstr("Move its images"));
  folder.write("holes/cat/1.jpg", "x");
  folder.write("holes/dog/1.gif", "x");
  expect_error(folder.path() + "/holes", Exit::data, AllOf(HasSubstr("class dog"), HasSubstr("Convert")));
  folder.write("split/train/cat/1.jpg", "x");
  folder.write("split/validation/cat/1.jpg", "x");
  expect_error(folder.path() + "/split", Exit::data, HasSubstr("/split/train"));
}

TEST(FolderData, tells_record_shards_apart) {
  const TemporaryFolder folder;
  folder.write("shards/train-00000-of-00001", "x");
  folder.write("named/flowers.tfrecord", "x");
  for (const char* name : {"shards", "named", "named/flowers.tfrecord"}) {
    expect_error(folder.path() + "/" + name, Exit::data, HasSubstr("cut short"));
  }
  folder.write("other/made-of-wood", "x");
  expect_error(folder.path() + "/other", Exit::data, HasSubstr("no class folders"));
}

TEST(SyntheticData, has_the_classes_and_pixels_it_is_asked_for) {
  const auto plain = open_dataset("synthetic", 16);
  EXPECT_EQ(plain->size(), 5120U);
  EXPECT_EQ(plain->class_names().size(), 10U);
  const auto wide = open_dataset("synthetic:1000x8", 16);
  EXPECT_EQ(wide->class_names().size(), 1000U);
  std::vector<uint8_t> pixels(16 * 16 * 3);
  std::vector<uint8_t> again(pixels.size());
  ASSERT_TRUE(plain->pixels(3, 16, pixels.data()));
  ASSERT_TRUE(open_dataset("synthetic", 16)->pixels(3, 16, again.data()));
  EXPECT_EQ(pixels, again);
  ASSERT_TRUE(plain->pixels(13, 16, again.data()));  // the same class
  EXPECT_NE(pixels, again);
  EXPECT_GT(std::set<uint8_t>(pixels.begin(), pixels.end()).size(), 50U);
}

TEST(SyntheticData, a_class_has_a_pattern_of_its_own) {
  // The mean image of a class is near to other images of that class and far from those of another.
  const auto data = open_dataset("synthetic", 8);
  const auto mean = [&](size_t first) {
    std::vector<double> sum(8 * 8 * 3);
    std::vector<uint8_t> pixels(sum.size());
    for (size_t k = 0; k < 20; ++k) {
      data->pixels(first + 10 * k, 8, pixels.data());
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += pixels[i] / 20.0;
    }
    return sum;
  };
  const auto distance = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum / static_cast<double>(a.size());
  };
  EXPECT_LT(4 * distance(mean(4), mean(204)), distance(mean(4), mean(205)));
}

TEST(SyntheticData, refuses_malformed_specs) {
  for (const char* spec : {"synthetic:", "synthetic:10", "synthetic:10x", "synthetic:x32", "synthetic:0x32",
                           "synthetic:10x32x3", "synthetic:-1x32", "synthetic:10x99999"}) {
    expect_error(spec, Exit::usage, AllOf(HasSubstr(spec), HasSubstr("CLASSESxPIXELS")));
  }
  expect_error("", Exit::usage, HasSubstr("--data is empty"));
}

}  // namespace
}  // namespace trainyard
