// Small parts by themselves.
#include <csignal>
#include <fstream>

#include "agent/base64.h"
#include "agent/exit_record.h"
#include "agent/frames.h"
#include "agent/hang.h"
#include "agent/lease.h"
#include "agent/run_folder.h"
#include "agent/run_state.h"
#include "agent/sample_log.h"
#include "agent/tail.h"
#include "tests/agent/run_fixture.h"

namespace trainyard::test {
namespace {

TEST(Base64, KnowsTheVectorsOfItsStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\x00\xfe", 3)), "/wD+");
}

TEST(RunId, KeepsOnlyWhatAFolderNameMayHold) {
  EXPECT_EQ(make_run_id("../My Run!").substr(15, 8), "-my-run-");
  EXPECT_EQ(make_run_id("").substr(15, 5), "-run-");
  EXPECT_TRUE(is_run_id(make_run_id(std::string(200, 'x'))));
  EXPECT_FALSE(is_run_id(".."));
  EXPECT_FALSE(is_run_id("a/b"));
  EXPECT_FALSE(is_run_id(""));
}

TEST(ErrorLine, IsTheLastOneAfterTheOffset) {
  TemporaryFolder folder;
  const std::string old = "trainer: error: of an earlier life\n";
  write_file(folder.file("log"), old + "trainer: error: first\nnot trainer: error: me\ntrainer: error: last\nbye");
  EXPECT_EQ(last_error_line(folder.file("log"), old.size()), "trainer: error: last");
  write_file(folder.file("log"), old + "all is well\n");
  EXPECT_EQ(last_error_line(folder.file("log"), old.size()), std::nullopt);
  write_file(folder.file("log"), "trainer: error: before much\n" + std::string(3 << 20, 'x') + "\n");
  EXPECT_EQ(last_error_line(folder.file("log"), 0), "trainer: error: before much");
  EXPECT_EQ(last_error_line(folder.file("none"), 0), std::nullopt);
}

TEST(ExitRecord, TheFirstFailureExplainsTheRest) {
  const auto ended_at = [](int rank, double when) {
    ExitRecord record;
    record.rank = rank;
    record.host = "h";
    record.ended = when;
    return record;
  };
  ExitRecord good = ended_at(0, 1), later = ended_at(1, 5), first = ended_at(2, 4);
  good.exit_code = 0;
  later.signal = 6;
  first.exit_code = 1;
  first.last_step = 9;
  const std::vector<ExitRecord> records{good, later, first};
  ASSERT_NE(first_failure(records), nullptr);
  EXPECT_EQ(first_failure(records)->rank, 2);
  EXPECT_EQ(first.description(), "rank 2 on h exited with code 1 at step 9");
  EXPECT_EQ(later.code(), 134);
}

TEST(ExitRecord, ARankThatLostAnotherDoesNotExplainTheLoss) {
  ExitRecord aborted, killed;
  aborted.signal = SIGABRT;
  aborted.ended = 100;
  killed.rank = 1;
  killed.signal = SIGKILL;
  killed.ended = 3700;  // by a clock that is an hour ahead
  EXPECT_EQ(first_failure({aborted, killed})->rank, 1);
  EXPECT_EQ(first_failure({aborted})->rank, 0);
  aborted.signal = SIGPIPE;  // its proxy went away with the other
  EXPECT_EQ(first_failure({aborted, killed})->rank, 1);
  ExitRecord said;
  said.rank = 2;
  said.exit_code = 4;
  said.last_line = "trainer: error: rank 2: no such device";
  said.ended = 101;
  EXPECT_EQ(first_failure({aborted, said})->rank, 2);
  killed.signal = SIGABRT;
  EXPECT_EQ(first_failure({aborted, killed})->rank, 0);
  aborted.last_line = "trainer: error: it knew why";
  killed.signal = SIGKILL;
  EXPECT_EQ(first_failure({aborted, killed})->rank, 0);
}

TEST(Hang, NamesTheStoppedOrElseTheIdle) {
  EXPECT_EQ(judge({{0, 'R', 0.9}, {1, 'T', 0}}).ranks, std::vector<int>{1});
  EXPECT_EQ(judge({{0, 'R', 0.9}, {1, 'S', 0}}).ranks, std::vector<int>{1});
  EXPECT_TRUE(judge({{0, 'S', 0}, {1, 'S', 0}}).ranks.empty());
  EXPECT_TRUE(judge({{0, 'R', 0.9}, {1, 'R', 0.4}}).ranks.empty());
  // On a crowded machine who computes waits for a processor.
  EXPECT_EQ(judge({{0, 'R', 0.05}, {1, 'S', 0}}).ranks, std::vector<int>{1});
  EXPECT_TRUE(judge({{0, 'R', 0.9}, {1, 'R', 0}}).ranks.empty());
  EXPECT_TRUE(judge({}).ranks.empty());
}

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

TEST(Samples, AreThinnedWithAge) {
  TemporaryFolder folder;
  const std::string path = folder.file("h.jsonl");
  const int now = 1'000'000;
  {
    std::ofstream out(path);
    for (int second = now - 2 * 86400; second <= now; ++second)
      out << "{\"time\":" << second << ".25,\"host\":\"h\"}\n";
  }
  const auto lines = [&] {
    std::ifstream in(path);
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  };
  thin_samples(path, now);
  EXPECT_NEAR(lines(), 86400 / 60 + (86400 - 3600) / 10 + 3600, 5);
  const int once = lines();
  thin_samples(path, now);
  EXPECT_EQ(lines(), once);
}

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

TEST(LineReader, CutsLinesWhereverReadsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  LineReader reader(in.get(), 10);
  const auto feed = [&](const std::string& bytes) {
    write_all(out.get(), bytes, "pipe");
    reader.fill();
  };
  feed("on");
  EXPECT_FALSE(reader.next());
  feed("e\ntwo\n01234567890123");
  EXPECT_EQ(reader.next()->text, "one");
  EXPECT_EQ(reader.next()->text, "two");
  EXPECT_FALSE(reader.next());
  feed("456\n0123456789\n");
  EXPECT_TRUE(reader.next()->too_long);
  EXPECT_EQ(reader.next()->text, "0123456789");
  out = Descriptor();
  EXPECT_FALSE(reader.fill());
}

}  // namespace
}  // namespace trainyard::test
