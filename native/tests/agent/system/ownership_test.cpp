// Folders that another user made, or may write in: no run starts in them, nor does a node join from
// them.
#include "agent/system/ownership.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

constexpr uid_t kStranger = 64102;

class Ownership : public RunTest {
 protected:
  std::string made(const std::string& name, mode_t mode = 0700) const {
    const std::string path = folder_.file(name);
    std::filesystem::create_directories(path);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string refusal(const std::string& dir) {
    Json spec = command_spec("true", 1);
    spec["dir"] = dir;
    return client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}})["message"];
  }
};

TEST_F(Ownership, OfFoldersThatOthersMayWrite) {
  const std::string run = made("run", 0777);
  EXPECT_EQ(refusal(run), run +
                              " may be written by everybody, who could put other files in the place of yours. Run: "
                              "chmod go-w " +
                              run + ", or name another folder");
  const std::string above = made("above", 0777);
  const std::string wanted = "chmod +t " + above;
  EXPECT_NE(refusal(above + "/run").find(wanted), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(above + "/run"));
  made("above", 01777);
  EXPECT_EQ(stranger_on_the_way(above + "/run"), std::nullopt);
  EXPECT_NE(stranger_on_the_way(above), std::nullopt);
  EXPECT_EQ(stranger_on_the_way("/tmp/none-of-this-name/at/all"), std::nullopt);
  made("work", 0777);
  const Json spec = command_spec("true", 1);
  const Json error = client_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", spec}});
  EXPECT_NE(error["message"].get<std::string>().find("chmod +t " + folder_.file("work")), std::string::npos) << error;
}

TEST_F(Ownership, OfLinksAndWhereTheyLead) {
  const std::string open = made("open", 0777);
  made("open/inner");
  std::filesystem::create_symlink("../open/inner/../inner", made("beside") + "/link");
  const auto found = stranger_on_the_way(folder_.file("beside/link/run"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->substr(0, open.size() + 1), open + " ");
  std::filesystem::create_symlink("loop", folder_.file("loop"));
  EXPECT_THROW(require_own(folder_.file("loop")), std::exception);
}

TEST_F(Ownership, OfFoldersOfAnotherUserOrGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "it needs root, to give a folder to another user";
  const std::string run = made("run");
  ASSERT_EQ(::chown(run.c_str(), kStranger, kStranger), 0);
  const std::string said = " belongs to user 64102, not to you. Name another folder";
  EXPECT_EQ(refusal(run).substr(0, run.size() + said.size()), run + said);
  ASSERT_EQ(::chown(run.c_str(), 0, kStranger), 0);
  ASSERT_EQ(::chmod(run.c_str(), 02770), 0);
  EXPECT_NE(refusal(run).find(run + " may be written by its group"), std::string::npos);
  EXPECT_NE(refusal(run + "/new").find("chmod +t " + run), std::string::npos);
  ASSERT_EQ(::chown(run.c_str(), 0, 0), 0);  // the group `root`, which is root's alone
  ASSERT_EQ(::chmod(run.c_str(), 0770), 0);
  EXPECT_EQ(stranger_on_the_way(run), std::nullopt);
}

}  // namespace
}  // namespace trainyard::test
