// A rank within a call of a hung driver does not end by SIGKILL. Nothing here can make such a
// process, so the hosts are a stand-in that never ends one.
#include "agent/supervise/generation.h"
#include "agent/system/clock.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

class HostsThatEndNothing : public RankHosts {
 public:
  std::string host_of(int) const override { return "gpu2"; }
  bool is_gone(const StartedRank&) const override { return false; }
  void terminate(const RankProcess&) override {}
  void kill_programs(const std::vector<StartedRank>&) override {}
  bool kill_everything() override { return false; }
  void let_go(int) override {}
  Suspects suspects(const std::vector<RankProcess>&) const override { return {}; }
};

TEST(Generation, ThatCannotEndItsRanksEndsWithoutARestart) {
  TemporaryFolder files;
  const RunFolder folder(files.path());
  for (const char* name : {"logs", "processes", "exits", "heartbeats"})
    std::filesystem::create_directories(files.file(name));
  RunSpec spec;
  spec.ranks = 1;
  spec.argv = {"train"};
  Command mpiexec;
  mpiexec.argv = {"/bin/sleep", "60"};
  mpiexec.cwd = files.path();
  mpiexec.log = files.file("log");
  std::vector<ExitRecord> exited;
  GenerationListener listener;
  listener.rank_started = [](const RankProcess&) {};
  listener.rank_exited = [&exited](const ExitRecord& record) { exited.push_back(record); };
  HostsThatEndNothing hosts;
  Generation generation(folder, spec, 1, mpiexec, listener, hosts, 2);
  write_file(
      folder.start_record(1, 0),
      to_line(
          {{"rank", 0}, {"host", "gpu2"}, {"pid", 1}, {"startTime", 1}, {"wrapper", {{"pid", 1}, {"startTime", 1}}}}));
  EXPECT_FALSE(generation.poll());
  ASSERT_TRUE(generation.all_started());
  const double begun = monotonic_seconds();
  generation.end_because("node gpu3 was lost");
  EXPECT_TRUE(eventually([&] { return generation.poll(); }, 10));
  EXPECT_GE(monotonic_seconds() - begun, 2);
  signal_process(generation.mpiexec(), SIGKILL);
  ASSERT_EQ(exited.size(), 1U);
  EXPECT_TRUE(exited.front().lost);
  const GenerationResult result = generation.result(false);
  EXPECT_EQ(result.kind, GenerationResult::Kind::failed);
  EXPECT_FALSE(result.worth_retrying);
  EXPECT_EQ(result.reason,
            "node gpu3 was lost; rank 0 on gpu2 could not be ended by SIGKILL in 2 s, as in a call of a driver or disk "
            "that hangs. That node may need a reboot");
}

}  // namespace
}  // namespace trainyard::test
