// What killed MPI programs leave: removed, unless somebody uses it or may have made it.
#include "agent/system/litter.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "common/files.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

/// Seconds; before this machine was started, so that no proxy of another run that goes on here can
/// have made it.
constexpr double kLongAgo = 1e8;

class LitterTest : public testing::Test {
 protected:
  std::string make(const std::string& name, double age = 600) {
    const std::string path = folder_.file(name);
    write_file(path, "x");
    const timespec then{static_cast<time_t>(now_seconds() - age), 0};
    const timespec times[2]{then, then};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    return path;
  }

  std::vector<std::string> removed() {
    auto paths = remove_litter({folder_.path(), folder_.path(), 60});
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  TemporaryFolder folder_;
};

TEST_F(LitterTest, GoesWhenItsMakersAreDead) {
  const std::string description = make("hydra_hwloc_xmlfile_AbCdEf", kLongAgo), memory = make("mpich_shm_1f2e_0");
  make("mpich_shm_1f2e_1", 5);
  make("mine_shm_1");
  fs::create_symlink("/etc/hostname", folder_.file("mpich_shm_link"));
  std::string of_another;
  if (::geteuid() == 0) {
    of_another = make("mpich_shm_2_0");
    ASSERT_EQ(::chown(of_another.c_str(), 12345, 12345), 0);
  }
  EXPECT_EQ(removed(), (std::vector<std::string>{description, memory}));
  for (const char* name : {"mpich_shm_1f2e_1", "mine_shm_1"}) EXPECT_TRUE(fs::exists(folder_.file(name))) << name;
  EXPECT_TRUE(of_another.empty() || fs::exists(of_another));
}

TEST_F(LitterTest, StaysWhileAProcessHasItOrMayHaveMadeIt) {
  const std::string memory = make("mpich_shm_1f2e_0");
  fs::copy_file("/bin/sleep", folder_.file("hydra_pmi_proxy"));
  const pid_t process = ::fork();
  if (process == 0) {
    ::dup2(::open(memory.c_str(), O_RDONLY), 9);
    ::execl(folder_.file("hydra_pmi_proxy").c_str(), "hydra_pmi_proxy", "60", nullptr);
    ::_exit(127);
  }
  ASSERT_TRUE(
      eventually([&] { return read_file("/proc/" + std::to_string(process) + "/comm") == "hydra_pmi_proxy\n"; }));
  const std::string later = make("hydra_hwloc_xmlfile_AbCdEf", 0),
                    earlier = make("hydra_hwloc_xmlfile_GhIjKl", kLongAgo);
  auto paths = remove_litter({folder_.path(), folder_.path(), -5});
  EXPECT_EQ(paths, std::vector<std::string>{earlier}) << "made before that proxy was started";
  EXPECT_TRUE(fs::exists(later));
  EXPECT_TRUE(fs::exists(memory));
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  paths = remove_litter({folder_.path(), folder_.path(), -5});
  EXPECT_EQ(std::count(paths.begin(), paths.end(), memory), 1);
}

}  // namespace
}  // namespace trainyard::test
