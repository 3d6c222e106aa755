#include "agent/ranks/heartbeat.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two ranks whose heartbeats the test writes; overdue after half a second.
class Heartbeats : public ::testing::Test {
 protected:
  static constexpr double kTimeout = 0.5;

  Heartbeats() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trainyard-heartbeats-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(RunFolder(path_).heartbeats());
  }
  ~Heartbeats() override { std::filesystem::remove_all(path_); }
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;

  void beat(int rank, const std::string& phase) {
    std::ofstream(RunFolder(path_).heartbeat(rank))
        << R"({"step":7,"time":)" << ++beats_ << R"(,"phase":")" << phase << "\"}\n";
  }
  /// What is overdue after `seconds` in which rank 0 goes on beating in `phase`, and rank 1 is
  /// silent.
  std::vector<int> after(double seconds, const std::string& phase) {
    HeartbeatWatch watch(RunFolder(path_), 2, kTimeout, 60, true);
    beat(0, phase);
    beat(1, "training");
    std::vector<int> late = watch.overdue({false, false});
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds)) {
      beat(0, phase);
      late = watch.overdue({false, false});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return late;
  }

  std::string path_;
  int beats_ = 0;
};

TEST_F(Heartbeats, a_rank_that_is_silent_while_another_trains_is_overdue) {
  EXPECT_THAT(after(3 * kTimeout, "training"), ElementsAre(1));
}

TEST_F(Heartbeats, who_waits_for_a_checkpoint_a_start_or_an_evaluation_that_goes_on_is_not) {
  EXPECT_THAT(after(3 * kTimeout, "checkpoint"), IsEmpty());
  EXPECT_THAT(after(3 * kTimeout, "starting"), IsEmpty());
  EXPECT_THAT(after(3 * kTimeout, "evaluating"), IsEmpty());
}

/// Silence counts from the last beat of the one that was waited for.
TEST_F(Heartbeats, a_checkpoint_that_stands_still_is_seen) {
  HeartbeatWatch watch(RunFolder(path_), 2, kTimeout, 60, true);
  beat(0, "checkpoint");
  beat(1, "training");
  EXPECT_THAT(watch.overdue({false, false}), IsEmpty());
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * kTimeout));
  EXPECT_THAT(watch.overdue({false, false}), ElementsAre(0, 1));
}

/// As by `scontrol suspend` or `docker pause`, which stop the watch and the ranks alike.
TEST_F(Heartbeats, time_in_which_all_were_frozen_does_not_count) {
  HeartbeatWatch watch(RunFolder(path_), 2, 30, 60, true);
  beat(0, "training");
  beat(1, "training");
  EXPECT_THAT(watch.overdue({false, false}, 1000), IsEmpty());
  EXPECT_THAT(watch.overdue({false, false}, 4600), IsEmpty());
  EXPECT_LE(watch.silent_seconds(0), 5);
  for (double now = 4601; now < 4624; ++now) EXPECT_THAT(watch.overdue({false, false}, now), IsEmpty()) << now;
  for (double now = 4624; now < 4630; ++now) watch.overdue({false, false}, now);
  EXPECT_THAT(watch.overdue({false, false}, 4630), ElementsAre(0, 1));
}

/// A beat of the awaited rank is read a moment before those of the others.
TEST_F(Heartbeats, after_a_long_checkpoint_nobody_is_overdue_at_once) {
  EXPECT_THAT(after(3 * kTimeout, "checkpoint"), IsEmpty());
  HeartbeatWatch watch(RunFolder(path_), 2, kTimeout, 60, true);
  beat(0, "checkpoint");
  beat(1, "training");
  watch.overdue({false, false});
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * kTimeout));
  beat(0, "checkpoint");
  watch.overdue({false, false});
  beat(0, "training");
  EXPECT_THAT(watch.overdue({false, false}), IsEmpty());
}

}  // namespace
}  // namespace trainyard
