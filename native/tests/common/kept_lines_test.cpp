// Lines through a disk that fails for a while: files of a limited size stand in for a full disk,
// since every user can have them.
#include "common/kept_lines.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

/// While it lives no file of this process grows beyond `bytes`, and a write over the end is cut
/// there.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class Lines : public ::testing::Test {
 protected:
  Lines() : folder_(std::filesystem::temp_directory_path() / ("trainyard-lines-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Lines() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "lines").string(); }
  KeptLines kept(size_t limit) const {
    return {path(), limit, [](const LostLines& lost) {
              return "gap of " + std::to_string(lost.lines) + " from " + std::to_string(static_cast<int>(lost.from)) +
                     " to " + std::to_string(static_cast<int>(lost.to));
            }};
  }
  std::filesystem::path folder_;
};

TEST_F(Lines, a_part_that_the_disk_took_is_taken_back) {
  LineFile file(path());
  file.append("first");
  {
    const SmallDisk full(10);
    EXPECT_THROW(file.append("second line"), Error);
    EXPECT_EQ(read_file(path()), "first\n");
  }
  file.append("third");
  EXPECT_EQ(read_file(path()), "first\nthird\n");
}

TEST_F(Lines, a_torn_line_of_another_is_ended_first) {
  std::ofstream(path()) << "first\nsec";
  LineFile(path()).append("third");
  EXPECT_EQ(read_file(path()), "first\nsec\nthird\n");
}

TEST_F(Lines, what_a_full_disk_refused_is_written_later_in_order) {
  KeptLines lines = kept(1 << 20);
  lines.append("a", 1);
  EXPECT_TRUE(lines.flush());
  {
    const SmallDisk full(4);
    for (int i = 2; i < 6; ++i) lines.append("line " + std::to_string(i), i);
    EXPECT_FALSE(lines.flush());
    EXPECT_EQ(lines.waiting(), 4U);
    EXPECT_THAT(lines.error(), HasSubstr("lines"));
    EXPECT_EQ(read_file(path()), "a\n");
  }
  lines.append("line 6", 6);
  EXPECT_TRUE(lines.flush());
  EXPECT_EQ(read_file(path()), "a\nline 2\nline 3\nline 4\nline 5\nline 6\n");
}

TEST_F(Lines, over_the_limit_the_oldest_go_and_a_gap_is_declared) {
  std::filesystem::create_directory(path());  // cannot be opened as a file
  KeptLines lines = kept(2000);
  lines.append("start", 1, true);
  for (int i = 2; i < 100; ++i) lines.append("line " + std::to_string(i), i);
  EXPECT_FALSE(lines.flush());
  EXPECT_LT(lines.waiting(), 50U);
  const int64_t lost = lines.lost();
  ASSERT_GT(lost, 0);
  std::filesystem::remove(path());
  EXPECT_TRUE(lines.flush());
  EXPECT_EQ(lines.lost(), 0);
  std::string wanted = "gap of " + std::to_string(lost) + " from 2 to " + std::to_string(lost + 1) + "\nstart\n";
  for (int64_t i = lost + 2; i < 100; ++i) wanted += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(read_file(path()), wanted);
}

}  // namespace
}  // namespace trainyard
