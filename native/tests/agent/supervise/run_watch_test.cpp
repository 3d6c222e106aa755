// What a supervisor journals of what it sees beside its processes.
#include "agent/supervise/run_watch.h"

#include <sstream>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

std::vector<Json> events_of(const TemporaryFolder& folder) {
  std::istringstream lines(read_file(folder.file("events.jsonl")));
  std::vector<Json> found;
  for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line));
  return found;
}

TEST(RunWatch, JournalsACheckpointThatWasPassedOver) {
  const TemporaryFolder folder;
  write_file(folder.file("metrics.jsonl"), "");
  RunWatch watch{RunFolder(folder.path())};
  Journal journal(folder.file("events.jsonl"));
  watch.look_at_metrics(journal);
  write_file(folder.file("metrics.jsonl"), to_line({{"kind", "checkpoint_passed_over"},
                                                    {"time", 1},
                                                    {"generation", 2},
                                                    {"step", 120},
                                                    {"path", "checkpoints/step-00000120"},
                                                    {"reason", "model.safetensors is damaged"}}) +
                                               "\n");
  watch.look_at_metrics(journal);
  const std::vector<Json> events = events_of(folder);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["kind"], "checkpoint_passed_over");
  EXPECT_EQ(events[0]["step"], 120);
  EXPECT_EQ(events[0]["path"], "checkpoints/step-00000120");
  EXPECT_EQ(events[0]["reason"], "model.safetensors is damaged");
}

TEST(RunWatch, JournalsALowDiskOnceAndKnowsNothingWithoutAnAnswer) {
  const TemporaryFolder folder;
  RunWatch watch{RunFolder(folder.path())};
  Journal journal(folder.file("events.jsonl"));
  watch.look_at_disk(uint64_t{5} << 30, journal);
  for (int look = 0; look < 3; ++look) watch.look_at_disk(uint64_t{1} << 29, journal);
  watch.look_at_disk(std::nullopt, journal);
  watch.look_at_disk(uint64_t{1} << 29, journal);
  ASSERT_EQ(events_of(folder).size(), 1U);
  watch.look_at_disk(uint64_t{3} << 30, journal);
  watch.look_at_disk(uint64_t{1} << 29, journal);
  EXPECT_EQ(events_of(folder).size(), 2U);
  EXPECT_EQ(events_of(folder)[0]["kind"], "disk_low");
  EXPECT_EQ(events_of(folder)[0]["free_bytes"], uint64_t{1} << 29);
}

}  // namespace
}  // namespace trainyard::test
