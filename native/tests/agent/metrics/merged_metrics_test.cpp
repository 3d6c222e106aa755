// metrics.read: step lines are read as nlohmann/json reads them, and neighbouring ones become one.
#include "agent/metrics/merged_metrics.h"

#include <cmath>
#include <cstdlib>
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
Json merge(const std::vector<Json>& lines, int64_t rows, bool only_curves = false) {
  TemporaryFolder folder;
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  write_file(folder.file("metrics.jsonl"), text);
  MetricsMerger merger(folder.file("metrics.jsonl"), rows, only_curves);
  while (!merger.advance()) {
  }
  const Json answer = merger.take();
  EXPECT_EQ(answer["size"], text.size());
  return answer["lines"];
}

TEST(MergedMetrics, EndAtTheLastWholeLineBeforeTheGivenByte) {
  TemporaryFolder folder;
  const std::string one = step_line(1).dump() + "\n", two = step_line(2).dump() + "\n";
  write_file(folder.file("metrics.jsonl"), one + two + "{\"kind\":\"st");
  const auto read = [&](int64_t end) {
    MetricsMerger merger(folder.file("metrics.jsonl"), 100, false, end);
    while (!merger.advance()) {
    }
    const Json answer = merger.take();
    return std::pair(answer["size"].get<size_t>(), answer["lines"].size());
  };
  EXPECT_EQ(read(INT64_MAX), std::pair((one + two).size(), size_t{2}));
  EXPECT_EQ(read(static_cast<int64_t>(one.size())), std::pair(one.size(), size_t{1}));
  EXPECT_EQ(read(static_cast<int64_t>((one + two).size()) - 1), std::pair(one.size(), size_t{1}));
  EXPECT_EQ(read(3), std::pair(size_t{0}, size_t{0}));
}

TEST(StepLines, HaveTheNumbersThatNlohmannReads) {
  std::mt19937_64 random(20261125);
  StepLineReader one;  // reads a line by what it knows of the line before
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
      if (round % 4 == 0) number = static_cast<float>(bits % 1'000'000) / 1000.1F;  // 17 digits
      if (std::isfinite(number)) value = number;
      wanted[index] = Json::parse(value.dump()).get<double>();
    }
    StepLineReader fresh;
    for (StepLineReader* reader : {&one, &fresh}) {
      const auto read = reader->read(line.dump());
      ASSERT_TRUE(read) << line.dump();
      for (size_t index = 0; index < kStepFields; ++index) {
        ASSERT_EQ(read->values[index], wanted[index]) << kStepFieldNames[index] << " of " << line.dump();
      }
    }
  }
}

/// As the trainer writes them: no digit more than tells the double from its neighbours. These texts
/// have more, and lie on or beside the middle between two doubles.
TEST(StepLines, HaveTheNearestDoubleInTheMiddleBetweenTwo) {
  StepLineReader reader;
  Json line = step_line(7);
  const std::string text = line.dump();
  const std::string before = "\"loss\":";
  const size_t at = text.find(before) + before.size();
  const size_t length = text.find(',', at) - at;
  for (const char* number :
       {"9007199254740993", "9007199254740993.000", "9007199254740993.001", "9007199254740992.999",
        "1125899906842624.125", "1125899906842624.126", "0.500000000000000055", "4503599627370497.5",
        "9999999999999999999", "18446744073709551615", "0.0000000000000000001", "-2.5", "1e-7"}) {
    const std::string changed = std::string(text).replace(at, length, number);
    for (int round = 0; round < 2; ++round) {
      const auto read = reader.read(changed);
      ASSERT_TRUE(read) << changed;
      EXPECT_EQ((*read)[StepField::loss], std::strtod(number, nullptr)) << number;
    }
  }
}

TEST(StepLines, AreReadAlikeWhateverTheLineBeforeWas) {
  Json plain = step_line(7);
  Json norm = plain, servers = plain, unknown = plain;
  norm["gradient_norm"] = 0.25;
  servers["servers"] = {{{"host", "a \"b\", {c}\\"}}};
  unknown["loss"] = nullptr;
  const std::vector<std::string> texts{plain.dump(), norm.dump(), servers.dump(), unknown.dump(), plain.dump() + "\r"};
  StepLineReader reader;
  for (const std::string& first : texts) {
    for (const std::string& second : texts) {
      ASSERT_TRUE(reader.read(first));
      const auto read = reader.read(second);
      ASSERT_TRUE(read) << second;
      EXPECT_EQ(read->values, StepLineReader().read(second)->values) << second;
      EXPECT_EQ(read->has_loss, second != unknown.dump());
      EXPECT_FALSE(reader.read(second.substr(0, second.size() - 2)));
    }
  }
}

TEST(StepLines, OthersAreNone) {
  Json line = step_line(7);
  line["servers"] = {{{"host", "a \"b\", {c}\\"}, {"busy", {1, 2, {3}}}}, nullptr};
  line["early"] = true;
  ASSERT_TRUE(StepLineReader().read(line.dump()));
  EXPECT_TRUE(StepLineReader().read(" { \"loss\" : null , " + line.dump().substr(1)));
  line["loss"] = nullptr;
  line["images"] = 12;
  const auto read = StepLineReader().read(line.dump());
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->has_loss);
  EXPECT_TRUE(read->has_top1);
  EXPECT_EQ(read->images, 12);
  const std::string text = line.dump();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(StepLineReader().read(text.substr(0, length))) << text.substr(0, length);
  }
  for (const char* name : {"time", "step", "images_per_sec", "kind"}) {
    Json wrong = line;
    wrong[name] = nullptr;
    EXPECT_FALSE(StepLineReader().read(wrong.dump())) << name;
    wrong.erase(name);
    EXPECT_FALSE(StepLineReader().read(wrong.dump())) << name;
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

TEST(MergedMetrics, ForCurvesTheOtherFiguresAreThoseOfTheLastLine) {
  std::vector<Json> lines{start_line(nullptr)};
  for (int step = 1; step <= 100; ++step) {
    lines.push_back(step_line(step, 100 + step));
    lines.back()["comm_ms"] = step + 0.5;
    lines.back()["top1"] = step % 2 == 0 ? Json(step / 100.0) : Json(nullptr);
    if (step % 7 == 0) lines.back()["gradient_norm"] = 1e-9;
  }
  const Json all = merge(lines, 4), curves = merge(lines, 4, true);
  ASSERT_EQ(all.size(), curves.size());
  for (size_t at = 1; at < all.size(); ++at) {
    for (const char* name : {"time", "generation", "step", "epoch", "loss", "images_per_sec", "world", "merged"}) {
      EXPECT_EQ(all[at][name], curves[at][name]) << name;
    }
    const int step = curves[at]["step"];
    EXPECT_EQ(curves[at]["comm_ms"], step + 0.5);
    EXPECT_EQ(curves[at]["top1"], step % 2 == 0 ? Json(step / 100.0) : Json(nullptr));
    EXPECT_LT(all[at]["comm_ms"], curves[at]["comm_ms"]);
  }
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
