// metrics.read: step lines are read as nlohmann/json reads them, and neighbouring ones become one.
#include "agent/metrics/merged_metrics.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

Json step_line(int64_t step, double rate = 100, int generation = 1) {
  return {{"kind", "step"},
          {"time", 1'700'000'000.25 + static_cast<double>(step)},
          {"generation", generation},
          {"step", step},
          {"epoch", static_cast<double>(step) / 8},
          {"loss", 6 / std::sqrt(step)},
          {"top1", 0.5},
          {"lr", 1e-7},
          {"images_per_sec", rate},
          {"step_ms", 12.5},
          {"comm_ms", 0},
          {"input_wait_ms", -0.0},
          {"world", 4}};
}

Json start_line(const Json& resumed_from, int generation = 1) {
  return {{"kind", "start"}, {"generation", generation}, {"resumed_from", resumed_from}};
}

/// The lines that are left of these.
Json merge(const std::vector<Json>& lines, int64_t rows) {
  TemporaryFolder folder;
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  write_file(folder.file("metrics.jsonl"), text);
  MetricsMerger merger(folder.file("metrics.jsonl"), rows);
  while (!merger.advance()) {
  }
  const Json answer = merger.take();
  EXPECT_EQ(answer["size"], text.size());
  return answer["lines"];
}

TEST(StepLines, HaveTheNumbersThatNlohmannReads) {
  std::mt19937_64 random(20261125);
  for (int round = 0; round < 20'000; ++round) {
    Json line = step_line(1 + static_cast<int64_t>(random() % 1'000'000));
    std::array<double, kStepFields> wanted{};
    for (size_t index = 0; index < kStepFields; ++index) {
      Json& value = line[std::string(kStepFieldNames[index])];
      double number = 0;
      const uint64_t bits = random();
      std::memcpy(&number, &bits, sizeof number);
      if (round % 2 == 0) number = static_cast<double>(bits % 2'000'000'000) / 1e6 - 1000;
      if (round % 3 == 0) number = static_cast<double>(bits >> (bits % 60));
      if (std::isfinite(number)) value = number;
      wanted[index] = Json::parse(value.dump()).get<double>();
    }
    const auto read = read_step_line(line.dump());
    ASSERT_TRUE(read) << line.dump();
    for (size_t index = 0; index < kStepFields; ++index) {
      ASSERT_EQ(read->values[index], wanted[index]) << kStepFieldNames[index] << " of " << line.dump();
    }
  }
}

TEST(StepLines, OthersAreNone) {
  Json line = step_line(7);
  line["servers"] = {{{"host", "a \"b\", {c}\\"}, {"busy", {1, 2, {3}}}}, nullptr};
  line["early"] = true;
  ASSERT_TRUE(read_step_line(line.dump()));
  EXPECT_TRUE(read_step_line(" { \"loss\" : null , " + line.dump().substr(1)));
  line["loss"] = nullptr;
  line["images"] = 12;
  const auto read = read_step_line(line.dump());
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->has_loss);
  EXPECT_TRUE(read->has_top1);
  EXPECT_EQ(read->images, 12);
  const std::string text = line.dump();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(read_step_line(text.substr(0, length))) << text.substr(0, length);
  }
  for (const char* name : {"time", "step", "images_per_sec", "kind"}) {
    Json wrong = line;
    wrong[name] = nullptr;
    EXPECT_FALSE(read_step_line(wrong.dump())) << name;
    wrong.erase(name);
    EXPECT_FALSE(read_step_line(wrong.dump())) << name;
  }
}

TEST(MergedMetrics, FewLinesStayAsTheyAre) {
  const std::vector<Json> lines{start_line(nullptr), step_line(1), {{"kind", "checkpoint"}, {"step", 1}}, step_line(2)};
  EXPECT_EQ(merge(lines, 8192), Json(lines));
}

TEST(MergedMetrics, NeighboursBecomeOneWithMeansBoundsAndAllTheirWork) {
  std::vector<Json> lines{start_line("step-00000100")};
  for (int step = 110; step <= 1100; step += 10) lines.push_back(step_line(step, step <= 600 ? 100 : 300));
  lines[3]["loss"] = nullptr;
  const Json merged = merge(lines, 1);
  ASSERT_EQ(merged.size(), 2) << merged;
  const Json& row = merged[1];
  EXPECT_EQ(row["step"], 1100);
  EXPECT_EQ(row["world"], 4);
  EXPECT_EQ(row["epoch"], 1100 / 8.0);
  EXPECT_DOUBLE_EQ(row["images_per_sec"].get<double>(), 200);
  EXPECT_EQ(row["merged"]["lines"], 100);
  EXPECT_EQ(row["merged"]["images_per_sec_min"], 100);
  EXPECT_EQ(row["merged"]["images_per_sec_max"], 300);
  // Half of the images at 100, half at 300 images/s.
  EXPECT_NEAR(row["merged"]["images_per_sec_over_all"].get<double>(), 150, 1e-9);
  EXPECT_EQ(row["merged"]["loss_min"], 6 / std::sqrt(1100));
  EXPECT_EQ(row["merged"]["loss_max"], 6 / std::sqrt(110));
  double sum = 0;
  for (int step = 110; step <= 1100; step += 10) sum += step == 130 ? 0 : 6 / std::sqrt(step);
  EXPECT_NEAR(row["loss"].get<double>(), sum / 99, 1e-12);
}

TEST(MergedMetrics, RestartsAndRepeatedStepsKeepTheirOwnRows) {
  std::vector<Json> lines{start_line(nullptr)};
  for (int step = 1; step <= 50; ++step) lines.push_back(step_line(step));
  lines.push_back(start_line("step-00000020", 2));
  for (int step = 21; step <= 60; ++step) lines.push_back(step_line(step, 100, 2));
  for (int step = 41; step <= 70; ++step) lines.push_back(step_line(step, 100, 2));  // its start line was lost
  const Json merged = merge(lines, 1);
  std::vector<int> steps;
  for (const Json& line : merged) {
    if (line["kind"] == "step") steps.push_back(line["step"].get<int>());
  }
  EXPECT_EQ(steps, (std::vector{50, 60, 70})) << merged;
}

TEST(MergedMetrics, OtherLinesFollowTheStepsThatTheyLookBackOn) {
  std::vector<Json> lines;
  for (int step = 1; step <= 1000; ++step) {
    lines.push_back(step_line(step));
    lines.push_back({{"kind", "host"}, {"step", step}});
    if (step % 100 == 0) lines.push_back({{"kind", "eval"}, {"step", step}});
  }
  int64_t shown = 0, evaluations = 0, rows = 0;
  for (const Json& line : merge(lines, 50)) {
    EXPECT_NE(line["kind"], "host");
    if (line["kind"] == "step") {
      shown = line["step"].get<int64_t>();
      ++rows;
    } else {
      ++evaluations;
      EXPECT_LE(line["step"], shown);
    }
  }
  EXPECT_EQ(shown, 1000);
  EXPECT_EQ(evaluations, 10);
  EXPECT_LE(rows, 51);
}

TEST(MergedMetrics, ALongFileIsReadInShares) {
  TemporaryFolder folder;
  std::string text;
  for (int step = 1; text.size() < (9U << 20); ++step)
    text += step_line(step).dump() + (step % 100 == 0 ? "\r\n" : "\n");
  text += "{\"kind\":\"step\",\"time\":1";  // torn by a full disk
  write_file(folder.file("metrics.jsonl"), text);
  MetricsMerger merger(folder.file("metrics.jsonl"), 100);
  int shares = 1;
  while (!merger.advance()) ++shares;
  EXPECT_EQ(shares, 3);
  const Json lines = merger.take()["lines"];
  EXPECT_GE(lines.size(), 99U);
  EXPECT_LE(lines.size(), 101U);
  int64_t count = 0;
  for (const Json& line : lines) count += line["merged"]["lines"].get<int64_t>();
  EXPECT_EQ(count, lines.back()["step"]);
}

using MetricsReadTest = RunTest;

TEST_F(MetricsReadTest, AnswersForARunAndRefusesWhatIsNone) {
  const std::string dir = start(command_spec("true", 1));
  ASSERT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(client_->call("metrics.read", {{"dir", dir}, {"rows", 10}}), (Json{{"size", 0}, {"lines", Json::array()}}));
  write_file(dir + "/metrics.jsonl", step_line(1).dump() + "\n");
  EXPECT_EQ(client_->call("metrics.read", {{"dir", dir}, {"rows", 10}})["lines"], Json::array({step_line(1)}));
  EXPECT_EQ(client_->error("metrics.read", {{"dir", dir}, {"rows", 0}})["code"], -32602);
  EXPECT_EQ(client_->error("metrics.read", {{"dir", folder_.file("none")}, {"rows", 1}})["code"], 1);
}

}  // namespace
}  // namespace trainyard::test
