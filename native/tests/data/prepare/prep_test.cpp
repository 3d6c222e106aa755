#include "trainer/data/prepare/prep.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "common/error.h"
#include "common/files.h"
#include "tests/data/support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/pixels/demo_image.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

PrepOptions options_for(const std::string& from, const std::string& to) {
  PrepOptions options;
  options.from = from;
  options.to = to;
  options.image_size = 32;
  return options;
}

std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  }
  return files;
}

void expect_usage(const PrepOptions& options, const std::string& text) {
  try {
    prep(options);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(Prep, writes_a_folder_for_each_part_and_class) {
  const TemporaryFolder folder;
  PrepOptions options = options_for("demo:3x10", folder.path() + "/demo/");
  std::vector<int64_t> progress;
  options.progress = [&](int64_t done, int64_t total) {
    progress.push_back(done);
    EXPECT_EQ(total, 30);
  };
  const PrepSummary summary = prep(options);
  EXPECT_EQ(summary.train_images, 24);
  EXPECT_EQ(summary.validation_images, 6);
  EXPECT_THAT(summary.class_names, ElementsAre("circle", "square", "triangle"));
  ASSERT_EQ(progress.size(), 30U);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  const auto files = files_in(folder.path() + "/demo");
  EXPECT_EQ(files.size(), 30U);
  EXPECT_TRUE(files.contains("train/circle/0001.jpg"));
  EXPECT_TRUE(files.contains("train/circle/0008.jpg"));
  EXPECT_TRUE(files.contains("validation/triangle/0002.jpg"));
  EXPECT_FALSE(fs::exists(folder.path() + "/demo.partial"));
  const auto train = open_dataset(folder.path() + "/demo/train", 32);
  EXPECT_EQ(train->size(), 24U);
  JpegDecoder decoder;
  Image image;
  int64_t bytes = 0;
  for (const auto& [name, text] : files) {
    decoder.decode(text, 1000, image);
    EXPECT_EQ(image.width, 32);
    bytes += static_cast<int64_t>(text.size());
  }
  EXPECT_EQ(bytes, summary.bytes);
}

TEST(Prep, depends_on_the_seed_only) {
  const TemporaryFolder folder;
  PrepOptions options = options_for("demo:8x4", folder.path() + "/a");
  prep(options);
  options.to = folder.path() + "/b";
  options.threads = 7;
  prep(options);
  EXPECT_EQ(files_in(folder.path() + "/a"), files_in(folder.path() + "/b"));
  options.to = folder.path() + "/c";
  options.seed = 2;
  prep(options);
  const auto a = files_in(folder.path() + "/a");
  for (const auto& [name, text] : files_in(folder.path() + "/c")) EXPECT_NE(text, a.at(name)) << name;
}

TEST(Prep, splits_as_asked) {
  const TemporaryFolder folder;
  PrepOptions options = options_for("demo:2x1", folder.path() + "/one");
  EXPECT_EQ(prep(options).train_images, 2);
  options = options_for("demo:2x5", folder.path() + "/none");
  options.validation = 0;
  prep(options);
  EXPECT_FALSE(fs::exists(folder.path() + "/none/validation"));
  options = options_for("demo:2x5", folder.path() + "/most");
  options.validation = 0.99;
  EXPECT_EQ(prep(options).train_images, 2);
}

TEST(Prep, refuses_what_it_cannot_make) {
  const TemporaryFolder folder;
  const std::string to = folder.path() + "/x";
  for (const char* from : {"demo", "demo:5", "demo:1x5", "demo:9x5", "demo:5x0", "demo:5x5x5", "demo:ax5", "nowhere"}) {
    expect_usage(options_for(from, to), "demo:CLASSESxIMAGES_EACH");
  }
  PrepOptions options = options_for("demo:2x2", to);
  options.validation = 1;
  expect_usage(options, "--validation");
  options = options_for("demo:2x2", to);
  options.image_size = 8;
  expect_usage(options, "--image-size");
  EXPECT_FALSE(fs::exists(to));
}

TEST(Prep, leaves_a_folder_with_something_in_it_alone) {
  const TemporaryFolder folder;
  folder.write("full/mine.txt", "mine");
  expect_usage(options_for("demo:2x2", folder.path() + "/full"), "not empty");
  expect_usage(options_for("demo:2x2", folder.path() + "/full/mine.txt"), "no folder");
  EXPECT_EQ(files_in(folder.path() + "/full").size(), 1U);
  prep(options_for("demo:2x2", folder.make("empty")));
  EXPECT_EQ(files_in(folder.path() + "/empty").size(), 4U);
}

TEST(Prep, starts_afresh_after_an_interrupted_one) {
  const TemporaryFolder folder;
  folder.write("demo.partial/train/circle/0099.jpg", "old");
  prep(options_for("demo:2x2", folder.path() + "/demo"));
  EXPECT_EQ(files_in(folder.path() + "/demo").size(), 4U);
  EXPECT_FALSE(fs::exists(folder.path() + "/demo.partial"));
}

/// A file that cannot be written, as on a full disk: no file of this process may grow beyond 200
/// bytes.
class NoRoom {
 public:
  NoRoom() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{200, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoRoom() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST(Prep, leaves_nothing_behind_when_the_disk_is_full) {
  const TemporaryFolder folder;
  std::string message;
  {
    const NoRoom no_room;
    try {
      prep(options_for("demo:2x50", folder.path() + "/demo"));
    } catch (const Error& error) {
      message = error.what();
      EXPECT_EQ(error.code(), Exit::data);
    }
  }
  EXPECT_THAT(message, HasSubstr("cannot write " + folder.path() + "/demo.partial/train/"));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(DemoImages, a_shape_covers_a_part_of_its_square) {
  EXPECT_EQ(shapes().size(), 8U);
  for (const DrawnShape& shape : shapes()) {
    int inside = 0;
    for (int y = -40; y <= 40; ++y) {
      for (int x = -40; x <= 40; ++x) {
        const Point p{x / 32.0, y / 32.0};
        if (!shape.inside(p)) continue;
        ++inside;
        EXPECT_LE(p.x * p.x + p.y * p.y, 1.0) << shape.name;
      }
    }
    EXPECT_GT(inside, 700) << shape.name;
    EXPECT_LT(inside, 2700) << shape.name;
  }
}

}  // namespace
}  // namespace trainyard
