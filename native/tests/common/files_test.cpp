#include "common/files.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "common/error.h"
#include "common/process.h"

namespace trainyard {
namespace {

class Files : public ::testing::Test {
 protected:
  Files() : folder_(std::filesystem::temp_directory_path() / ("trainyard-files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(Files, replace_leaves_only_the_new_file) {
  replace_file(path("a"), "one");
  replace_file(path("a"), "two");
  EXPECT_EQ(read_file(path("a")), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, replace_into_a_missing_folder_names_it) {
  try {
    replace_file(path("missing/a"), "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("missing/a"));
  }
}

TEST_F(Files, lines_are_appended_whole) {
  LineFile first(path("lines"));
  LineFile second(path("lines"));
  first.append("a");
  second.append("b");
  first.append("c");
  EXPECT_EQ(read_file(path("lines")), "a\nb\nc\n");
}

TEST(Process, this_one_lives_and_a_recycled_pid_does_not) {
  const auto start = process_start_time(::getpid());
  ASSERT_TRUE(start.has_value());
  EXPECT_TRUE(is_alive({::getpid(), *start}));
  EXPECT_FALSE(is_alive({::getpid(), *start + 1}));
  EXPECT_FALSE(is_alive({0, 0}));
}

}  // namespace
}  // namespace trainyard
