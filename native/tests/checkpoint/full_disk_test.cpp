// Real limits of real file systems, not simulated ones.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "run_folder.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// No file may grow past `bytes` while this stands; the signal that would end the process is
// ignored.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    if (::getrlimit(RLIMIT_FSIZE, &before_) != 0) throw file_error("ask for", "RLIMIT_FSIZE");
    const rlimit limit{bytes, before_.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw file_error("set", "RLIMIT_FSIZE");
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(FullDisk, a_file_size_limit_leaves_the_older_checkpoint_and_nothing_else) {
  const RunFolder run;
  const SampleCheckpoint small(10, 1);
  const SampleCheckpoint large(20, 1, 100000);
  save_checkpoint(run.path(), small.contents());
  std::string message;
  {
    const FileSizeLimit limit(65536);
    message = data_error([&] { save_checkpoint(run.path(), large.contents()); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr(".tmp-step-00000020/model.safetensors"), HasSubstr(std::strerror(EFBIG))));
  EXPECT_THAT(run.names(), ElementsAre("step-00000010"));
  EXPECT_EQ(generation_of(*newest_valid_checkpoint(run.path())), 1);
  save_checkpoint(run.path(), large.contents());
  EXPECT_EQ(newest_valid_checkpoint(run.path())->step, 20);
}

class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=64k") == 0;
    error_ = errno;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  int error() const { return error_; }

 private:
  std::string path_;
  bool mounted_;
  int error_;
};

TEST(FullDisk, a_full_file_system_leaves_the_older_checkpoint_and_nothing_else) {
  const RunFolder run;
  const SmallDisk disk(run.path());
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a small file system: " << std::strerror(disk.error());
  const SampleCheckpoint small(10, 1);
  const SampleCheckpoint large(20, 1, 100000);
  const SampleCheckpoint again(10, 2, 100000);
  save_checkpoint(run.path(), small.contents());
  for (const SampleCheckpoint* too_large : {&large, &again}) {
    const std::string message = data_error([&] { save_checkpoint(run.path(), too_large->contents()); });
    EXPECT_THAT(message, AllOf(HasSubstr("model.safetensors"), HasSubstr(std::strerror(ENOSPC))));
    EXPECT_THAT(run.names(), ElementsAre("step-00000010"));
    EXPECT_EQ(generation_of(*newest_valid_checkpoint(run.path())), 1);
  }
  const SampleCheckpoint next(20, 2);
  save_checkpoint(run.path(), next.contents());
  EXPECT_EQ(newest_valid_checkpoint(run.path())->step, 20);
}

TEST(FullDisk, a_folder_without_permission_is_named) {
  if (::geteuid() == 0) GTEST_SKIP() << "the administrator may write anywhere";
  const RunFolder run;
  const SampleCheckpoint sample(10, 1);
  std::filesystem::create_directory(run.checkpoints());
  std::filesystem::permissions(run.checkpoints(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_THAT(data_error([&] { save_checkpoint(run.path(), sample.contents()); }),
              AllOf(HasSubstr("/checkpoints"), HasSubstr(std::strerror(EACCES))));
  std::filesystem::permissions(run.checkpoints(), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace trainyard
