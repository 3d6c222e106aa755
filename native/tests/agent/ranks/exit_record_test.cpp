#include "agent/ranks/exit_record.h"

#include <csignal>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

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
  aborted.signal = SIGSEGV;  // within MPI, which could not make a request
  EXPECT_EQ(first_failure({aborted, killed})->rank, 1);
  EXPECT_EQ(first_failure({aborted})->rank, 0);
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

}  // namespace
}  // namespace trainyard::test
