// Which bytes of logs a node sends after a new connection to the head.
#include "agent/join/node_copy.h"

#include <filesystem>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

TEST(NodeCopy, LeavesOutWhatAnEarlierLifeOfTheRunPrinted) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("logs"));
  write_file(folder.file("logs/rank-1.log"), "printed before\n");
  NodeCopy copy(RunFolder(folder.path()), "gpu2");
  copy.set_offsets(nullptr, Json::object());  // the head had never heard of this node
  copy.begin(1, 1, 1);
  EXPECT_TRUE(copy.drained());
  copy.set_offsets(Json::object(), Json::object());  // it has, but has no byte of this rank
  EXPECT_TRUE(copy.drained());
  copy.set_offsets({{"1", 3}}, Json::object());
  EXPECT_FALSE(copy.drained());
}

TEST(NodeCopy, SendsAllThatTheHeadLacksToOneThatKnewItBefore) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("logs"));
  write_file(folder.file("logs/rank-1.log"), "printed before this process began\n");
  NodeCopy copy(RunFolder(folder.path()), "gpu2");
  copy.begin(1, 1, 1);
  copy.set_offsets(Json::object(), Json::object());
  EXPECT_FALSE(copy.drained());
}

}  // namespace
}  // namespace trainyard::test
