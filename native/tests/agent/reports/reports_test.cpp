// What own programs report: event files and lines of JSON become figures.jsonl.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <sstream>

#include "agent/reports/collector.h"
#include "agent/system/clock.h"
#include "common/record_frame.h"
#include "tests/agent/support/run_fixture.h"
#include "trainer/tfevents/event_messages.h"

namespace trainyard::test {
namespace {

std::string simple(const std::string& tag, int64_t step, double value, double time = 1000) {
  return framed_record(scalar_event(tag, step, time, static_cast<float>(value)));
}

/// As `tf.summary.scalar` writes: bytes of a tensor, whose first message names the plugin.
std::string tensor(const std::string& tag, int64_t step, float value, const std::string& plugin) {
  using protozero::pbf_writer;
  std::string bytes;
  pbf_writer event(bytes);
  event.add_double(1, 1000);
  event.add_int64(2, step);
  {
    pbf_writer summary(event, 5);
    pbf_writer one(summary, 1);
    one.add_string(1, tag);
    {
      pbf_writer number(one, 8);
      number.add_enum(1, 1);
      number.add_message(2, "", 0);
      number.add_bytes(4, reinterpret_cast<const char*>(&value), sizeof value);
    }
    if (!plugin.empty()) {
      pbf_writer about(one, 9);
      pbf_writer named(about, 1);
      named.add_string(1, plugin);
    }
  }
  return framed_record(bytes);
}

void append(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

class CollectorTest : public testing::Test {
 protected:
  CollectorTest() { renew(); }

  void renew(const std::string& logdir = "") {
    collector_ = std::make_unique<Collector>(RunFolder(folder_.path()), logdir, now_seconds(),
                                             [this](const std::string& kind, const Json& fields) {
                                               notices_.push_back({{"kind", kind}, {"fields", fields}});
                                             });
  }
  void look() {
    sleep_ms(1010);  // files are looked for each second
    while (collector_->look()) {
    }
  }
  /// "tag@step=value" of each line, with the writer before it where there is one.
  std::vector<std::string> figures() const {
    std::vector<std::string> found;
    if (!std::filesystem::exists(folder_.file("figures.jsonl"))) return found;
    std::istringstream lines(read_file(folder_.file("figures.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      const Json one = Json::parse(line);
      const std::string writer = one["writer"];
      found.push_back((writer.empty() ? "" : writer + ":") + one["tag"].get<std::string>() + "@" + one["step"].dump() +
                      "=" + one["value"].dump());
    }
    return found;
  }
  using Lines = std::vector<std::string>;

  TemporaryFolder folder_;
  std::vector<Json> notices_;
  std::unique_ptr<Collector> collector_;
};

TEST_F(CollectorTest, ReadsBothFormsOfScalars) {
  append(folder_.file("tb/events.out.tfevents.1.host.7.0"),
         framed_record(version_event(1000)) + simple("loss", 1, 0.5) + tensor("acc", 1, 0.25F, "scalars") +
             tensor("acc", 2, 0.75F, "") + tensor("picture", 1, 3, "images") + tensor("unknown", 1, 3, "") +
             framed_record(text_event("text", 1, 1000, "hello")) +
             framed_record(std::string("\x0d\0\0\0\0", 5)));  // a time that is stored as another kind of field
  look();
  EXPECT_EQ(figures(), (Lines{"tb:loss@1=0.5", "tb:acc@1=0.25", "tb:acc@2=0.75"}));
  EXPECT_TRUE(notices_.empty());
}

TEST_F(CollectorTest, WaitsForATornTailAndReadsItOnce) {
  const std::string path = folder_.file("events.out.tfevents.1.host.7.0");
  const std::string next = simple("loss", 2, 0.25);
  append(path, simple("loss", 1, 0.5) + next.substr(0, 20));
  look();
  EXPECT_EQ(figures(), (Lines{"loss@1=0.5"}));
  append(path, next.substr(20, next.size() - 21));
  look();
  EXPECT_EQ(figures(), (Lines{"loss@1=0.5"}));
  append(path, next.substr(next.size() - 1));
  look();
  EXPECT_EQ(figures(), (Lines{"loss@1=0.5", "loss@2=0.25"}));
  EXPECT_TRUE(notices_.empty());
}

TEST_F(CollectorTest, EndsAFileAtADamagedRecordAndSaysSoOnce) {
  std::string damaged = simple("loss", 2, 0.25);
  damaged[15] = static_cast<char>(damaged[15] ^ 1);
  append(folder_.file("events.out.tfevents.1.host.7.0"), simple("loss", 1, 0.5) + damaged + simple("loss", 3, 0.125));
  append(folder_.file("b/events.out.tfevents.2.host.8.0"), simple("other", 1, 1));
  look();
  look();
  EXPECT_EQ(figures(), (Lines{"b:other@1=1.0", "loss@1=0.5"}));
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_EQ(notices_[0]["kind"], "figures_damaged");
  EXPECT_EQ(notices_[0]["fields"]["file"], "events.out.tfevents.1.host.7.0");
  renew();
  look();
  EXPECT_EQ(notices_.size(), 1U) << "a reader that begins again knows";
}

TEST_F(CollectorTest, KeepsProcessesOfOneGenerationApartAndJoinsThoseOfTheNext) {
  append(folder_.file("events.out.tfevents.1.a.b.7.0"), simple("loss", 1, 1) + simple("loss", 2, 2));
  append(folder_.file("events.out.tfevents.1.a.b.8.0"), simple("loss", 1, 3));
  append(folder_.file("events.out.tfevents.1.a.b.7.1"), simple("loss", 3, 4));
  look();
  EXPECT_EQ(figures(), (Lines{"loss@1=1.0", "loss@2=2.0", "loss@3=4.0", "#2:loss@1=3.0"}));
  renew();  // another supervisor goes on in the folder
  collector_->set_generation(2);
  append(folder_.file("events.out.tfevents.9.a.b.5.0"), simple("loss", 2, 5));
  look();
  EXPECT_EQ(figures().back(), "loss@2=5.0");
  EXPECT_EQ(figures().size(), 5U);
}

TEST_F(CollectorTest, LeavesAloneWhatALogFolderHeldBefore) {
  const TemporaryFolder logs;
  const std::string old = logs.file("old/events.out.tfevents.1.host.7.0");
  append(old, simple("loss", 1, 1));
  std::filesystem::last_write_time(old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  renew(logs.path());
  look();
  append(logs.file("new/events.out.tfevents.2.host.8.0"), simple("loss", 1, 2));
  look();
  EXPECT_EQ(figures(), (Lines{"new:loss@1=2.0"}));
}

TEST_F(CollectorTest, ReadsLinesOfJsonAndPassesOverWrongOnes) {
  const std::string path = folder_.file("metrics.jsonl");
  append(path, "{\"step\":1,\"train/loss\":0.5,\"name\":\"NaN \\\" Infinity\",\"time\":7}\n{\"loss\":1}\nnot json\n");
  append(path, "{\"step\":2,\"loss\":NaN,\"rank\":3}\n{\"step\":3,\"lo");
  look();
  EXPECT_EQ(figures(), (Lines{"train/loss@1=0.5", "rank 3:loss@2=null"}));
  append(path, "ss\":2}\n[1]\n");
  look();
  collector_->conclude();
  EXPECT_EQ(figures().back(), "loss@3=2.0");
  ASSERT_EQ(notices_.size(), 2U);
  EXPECT_EQ(notices_[0]["fields"]["lines"], 1);
  EXPECT_NE(notices_[0]["fields"]["reason"].get<std::string>().find("\"step\""), std::string::npos);
  EXPECT_EQ(notices_[1]["fields"]["lines"], 3);
}

TEST_F(CollectorTest, PassesOverLargeRecordsAndThinsAFlood) {
  std::string flood = framed_record(std::string(3 << 20, 'x'));
  for (int step = 1; step <= 5000; ++step) flood += simple("loss", step, step == 2500 ? 99 : 1);
  append(folder_.file("events.out.tfevents.1.host.7.0"), flood);
  look();
  const Lines found = figures();
  EXPECT_LT(found.size(), 400U);
  EXPECT_NE(std::ranges::find(found, "loss@2500=99.0"), found.end()) << "extremes stay";
  EXPECT_EQ(found.back(), "loss@5000=1.0");
}

class ReportsTest : public RunTest {};

TEST_F(ReportsTest, ARunHasTheFiguresOfItsProgramBeforeItIsOver) {
  const std::string dir =
      start(command_spec("printf '{\"step\":1,\"loss\":2}\\n' >> \"$TRAINYARD_RUN_DIR/metrics.jsonl\"; sleep 3; "
                         "printf '{\"step\":2,\"loss\":1}\\nwrong\\n' >> \"$TRAINYARD_RUN_DIR/metrics.jsonl\"",
                         1));
  const std::string path = dir + "/figures.jsonl";
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path) && !text(path).empty(); }, 2.9)) << "live";
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_NE(text(path).find("\"step\":2"), std::string::npos);
  EXPECT_EQ(events(dir, "figures_passed_over").size(), 1U);
  EXPECT_EQ(events(dir).back()["kind"], "finished");
}

}  // namespace
}  // namespace trainyard::test
