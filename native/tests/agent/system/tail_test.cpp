#include "agent/system/tail.h"

#include <fstream>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

TEST(Tail, HandsOutWholeLinesOnly) {
  TemporaryFolder folder;
  write_file(folder.file("m"), "old\n");
  Tail tail(folder.file("m"));
  std::ofstream(folder.file("m"), std::ios::app) << "a\nhal";
  EXPECT_EQ(tail.lines(), std::vector<std::string>{"a"});
  std::ofstream(folder.file("m"), std::ios::app) << "f\n";
  EXPECT_EQ(tail.lines(), std::vector<std::string>{"half"});
  EXPECT_TRUE(tail.lines().empty());
  EXPECT_EQ(last_lines(folder.file("m"), 2), (std::vector<std::string>{"a", "half"}));
}

}  // namespace
}  // namespace trainyard::test
