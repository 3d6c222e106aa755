#include "agent/run/folder/run_folder.h"

#include <gtest/gtest.h>

namespace trainyard::test {
namespace {

TEST(RunId, KeepsOnlyWhatAFolderNameMayHold) {
  EXPECT_EQ(make_run_id("../My Run!").substr(15, 8), "-my-run-");
  EXPECT_EQ(make_run_id("").substr(15, 5), "-run-");
  EXPECT_TRUE(is_run_id(make_run_id(std::string(200, 'x'))));
  EXPECT_FALSE(is_run_id(".."));
  EXPECT_FALSE(is_run_id("a/b"));
  EXPECT_FALSE(is_run_id(""));
}

}  // namespace
}  // namespace trainyard::test
