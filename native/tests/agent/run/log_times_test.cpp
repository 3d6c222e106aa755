#include "agent/run/log_times.h"

#include <fstream>
#include <sstream>

#include "common/process.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

class LogTimesTest : public testing::Test {
 protected:
  LogTimesTest() : run_(folder_.path()) { run_.make_folders(); }
  void print(const std::string& text) const { std::ofstream(run_.log("rank-0"), std::ios::app) << text; }
  std::vector<LogTime> recorded() const {
    std::ifstream in(run_.log_times("rank-0"));
    std::vector<LogTime> times;
    for (std::string line; std::getline(in, line);) {
      const auto time = parse_log_time(line);
      if (time) times.push_back(*time);
    }
    return times;
  }

  TemporaryFolder folder_;
  RunFolder run_;
};

TEST_F(LogTimesTest, SayHowLargeTheLogWasAndWhen) {
  const auto before = static_cast<int64_t>(now_seconds() * 1000);
  LogTimes times(run_, "rank-0");
  print("one\n");
  EXPECT_TRUE(eventually([&] { return times.look(), recorded().size() == 1; }));
  print("two\n");
  EXPECT_TRUE(eventually([&] { return times.look(), recorded().size() == 2; }));
  times.look_once_more();
  const auto all = recorded();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].size, 4U);
  EXPECT_EQ(all[1].size, 8U);
  EXPECT_GE(all[0].milliseconds, before);
  EXPECT_GT(all[1].milliseconds, all[0].milliseconds);
}

TEST_F(LogTimesTest, ALogOfAnEarlierVersionHasNone) {
  print("old\n");
  LogTimes times(run_, "rank-0");
  print("new\n");
  times.look_once_more();
  const auto all = recorded();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].size, 4U);
  EXPECT_EQ(all[0].milliseconds, 0);
  EXPECT_EQ(all[1].size, 8U);
  EXPECT_GT(all[1].milliseconds, 0);
}

TEST_F(LogTimesTest, WhatWasPrintedAsNobodyLookedHasTheTimeOfTheLog) {
  {
    LogTimes times(run_, "rank-0");
    print("seen\n");
    times.look_once_more();
  }
  print("unseen\n");
  const LogTimes again(run_, "rank-0");
  const auto all = recorded();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].size, 12U);
  EXPECT_GT(all[1].milliseconds, 0);
}

TEST_F(LogTimesTest, ALineThatIsTornIsNone) {
  for (const char* line : {"", "[12", "[1,2,3]", "[-1,2]", "{}", "[1.5,2]", "[1,\"2\"]", "[99999999999999999,1]"}) {
    EXPECT_FALSE(parse_log_time(line)) << line;
  }
}

}  // namespace
}  // namespace trainyard::test
