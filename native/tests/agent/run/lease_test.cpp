#include "agent/run/lease.h"

#include <filesystem>

#include "agent/run/run_state.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

TEST(RunState, IsInterruptedOnlyWhenNobodySupervises) {
  using Kind = Supervision::Kind;
  TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  const auto kind = [&](const Json& json) { return supervision(folder, json, Disk::own).kind; };
  RunState state;
  state.phase = "running";
  state.boot = boot_id();
  state.supervisor = {::getpid(), process_start_time(::getpid()).value()};
  EXPECT_EQ(kind(state.to_json()), Kind::here);
  state.supervisor.start_time += 1;  // the pid was given to another
  EXPECT_EQ(kind(state.to_json()), Kind::nobody);
  state.supervisor.start_time -= 1;
  state.boot = "another boot";
  EXPECT_EQ(kind(state.to_json()), Kind::nobody);  // nobody holds the lock, and no other machine can
  state.phase = "failed";
  EXPECT_EQ(kind(state.to_json()), Kind::over);
  EXPECT_EQ(supervision(folder, std::nullopt, Disk::own).kind, Kind::nobody);
}

TEST(FolderHold, WaitsWhereTheStateCannotBeRead) {
  TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  std::filesystem::create_directory(folder.state());  // it is there, and gives no bytes
  FolderHold hold(folder, Disk::shared);
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(hold.step());
  std::filesystem::remove(folder.state());
  EXPECT_FALSE(hold.step());  // it has the lock now, and reads the state again
  EXPECT_TRUE(hold.step());
}

}  // namespace
}  // namespace trainyard::test
