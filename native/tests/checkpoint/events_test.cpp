// Event files: byte for byte what TensorBoard's own writer makes of the same events, and read by
// its own reader.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "common/hash/crc32c.h"
#include "common/process.h"
#include "common/record_frame.h"
#include "run_folder.h"
#include "trainer/tfevents/event_messages.h"
#include "trainer/tfevents/event_writer.h"
#include "trainer/tfevents/record_file.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += digits;
  }
  return text;
}

const std::vector<EventGraphNode>& small_graph() {
  static const std::vector<EventGraphNode> nodes{{"x", "Input", {}, {-1, 3}}, {"fc", "Linear", {"x"}, {5}}};
  return nodes;
}

// The expected bytes come from TensorBoard 2.21's own message classes and RecordWriter.
TEST(EventMessages, are_the_bytes_of_the_reference) {
  EXPECT_EQ(hex(version_event(1.5)), "09000000000000f83f1a0d627261696e2e4576656e743a32");
  const std::string scalar = scalar_event("loss", 300, 2.5, 0.25F);
  EXPECT_EQ(hex(scalar), "09000000000000044010ac022a0d0a0b0a046c6f7373150000803e");
  EXPECT_EQ(hex(text_event("notes", 1, 2.5, "*hi*")),
            "09000000000000044010012a210a1f0a056e6f746573420a0807120042042a68692a4a0a0a060a04746578742002");
  EXPECT_EQ(hex(graph_event(2.5, small_graph())),
            "09000000000000044022660a330a01781205496e7075742a270a0e5f6f75747075745f73686170657312150a133a1112"
            "0b08ffffffffffffffffff01120208030a2b0a02666312064c696e6561721a01782a1a0a0e5f6f75747075745f736861"
            "70657312080a063a041202080522020816");
  EXPECT_EQ(hex(framed_record(scalar)),
            "1b000000000000001a0d9e1309000000000000044010ac022a0d0a0b0a046c6f7373150000803e205d3896");
}

// The records of a file, each checked by both of its CRCs.
std::vector<std::string> records_of(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<std::string> records;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    uint32_t crc = 0;
    if (bytes.size() - at < 16) throw std::runtime_error("a torn record");
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&crc, bytes.data() + at + 8, 4);
    if (crc != mask_crc(crc32c(std::string_view(bytes).substr(at, 8)))) throw std::runtime_error("a wrong length CRC");
    if (bytes.size() - at - 16 < length) throw std::runtime_error("a torn record");
    records.push_back(bytes.substr(at + 12, length));
    std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
    if (crc != mask_crc(crc32c(records.back()))) throw std::runtime_error("a wrong data CRC");
    at += 16 + length;
  }
  return records;
}

std::string only_file(const std::string& folder) {
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(path, "") << "more than one file";
    path = entry.path().string();
  }
  return path;
}

TEST(EventWriter, begins_with_the_version_and_appends_in_order) {
  const RunFolder run;
  const std::string folder = run.path() + "/deep/train";
  const double before = now_seconds();
  {
    EventWriter writer(folder);
    const std::vector<std::string> begun = records_of(only_file(folder));
    ASSERT_EQ(begun.size(), 1U);
    double time = 0;
    std::memcpy(&time, begun[0].data() + 1, sizeof time);
    EXPECT_GE(time, before);
    EXPECT_EQ(begun[0], version_event(time));

    writer.scalar("loss", 300, 2.5, 0.25F);
    writer.text("notes", 1, 2.5, "*hi*");
    EXPECT_EQ(records_of(only_file(folder)).size(), 1U);
    writer.flush();
    EXPECT_EQ(records_of(only_file(folder)).size(), 3U);
    writer.graph(small_graph());
  }
  const std::vector<std::string> records = records_of(only_file(folder));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[1], scalar_event("loss", 300, 2.5, 0.25F));
  EXPECT_EQ(records[2], text_event("notes", 1, 2.5, "*hi*"));
  const std::string name = std::filesystem::path(only_file(folder)).filename().string();
  EXPECT_THAT(name, ::testing::MatchesRegex("events\\.out\\.tfevents\\.[0-9]+\\..+\\.[0-9]+\\.0"));
  EXPECT_THAT(name, HasSubstr("." + host_name() + "." + std::to_string(::getpid()) + "."));
}

TEST(EventWriter, two_writers_of_one_process_have_two_files) {
  const RunFolder run;
  const EventWriter one(run.path());
  const EventWriter two(run.path());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run.path())) {
    EXPECT_EQ(records_of(entry.path().string()).size(), 1U);
    ++files;
  }
  EXPECT_EQ(files, 2);
}

TEST(EventWriter, a_full_disk_costs_no_record_once_there_is_room_again) {
  const RunFolder run;
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  EventWriter writer(run.path());
  for (int step = 0; step < 100; ++step) writer.scalar("loss", step, 1, 0.5F);
  const rlimit limit{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string message = data_error([&] { writer.flush(); });
  const size_t while_full = records_of(only_file(run.path())).size();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("events.out.tfevents."));
  EXPECT_THAT(message, HasSubstr(std::strerror(EFBIG)));
  EXPECT_EQ(while_full, 1U);
  writer.flush();
  EXPECT_EQ(records_of(only_file(run.path())).size(), 101U);
}

TEST(EventWriter, a_folder_that_cannot_be_made_is_named) {
  const RunFolder run;
  put_file(run.path() + "/file", "x");
  EXPECT_THAT(data_error([&] { const EventWriter writer(run.path() + "/file/train"); }), HasSubstr("/file/train"));
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  std::string text;
  char chunk[4096];
  while (const size_t got = std::fread(chunk, 1, sizeof chunk, pipe)) text.append(chunk, got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

TEST(EventWriter, tensorboards_own_reader_finds_curves_text_and_graph) {
  const char* python = std::getenv("TRAINYARD_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "TRAINYARD_PYTHON names no Python that has TensorBoard";
  const RunFolder run;
  {
    EventWriter train(run.path() + "/train");
    train.graph(small_graph());
    train.text("notes", 0, 1, "# notes");
    for (int step = 1; step <= 5; ++step) {
      train.scalar("loss", step * 10, 1000.0 + step, 1.0F / static_cast<float>(step));
      train.scalar("learning rate", step * 10, 1000.0 + step, 0.125F);
    }
    EventWriter eval(run.path() + "/eval");
    eval.scalar("top1", 50, 2000, 0.75F);
  }
  const std::string script = std::string(TRAINYARD_FIXTURES) + "/../../../scripts/test/check_events.py";
  const nlohmann::json found =
      nlohmann::json::parse(output_of(std::string("'") + python + "' '" + script + "' '" + run.path() + "'"));
  const nlohmann::json& train = found.at("runs").at("train");
  EXPECT_EQ(train.at("scalars").size(), 2U);
  EXPECT_EQ(train.at("scalars").at("loss").at("steps"), (std::vector<int>{10, 20, 30, 40, 50}));
  const auto values = train.at("scalars").at("loss").at("values").get<std::vector<float>>();
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(values.at(i), 1.0F / static_cast<float>(i + 1));
  EXPECT_EQ(train.at("texts"), std::vector<std::string>{"notes"});
  EXPECT_EQ(train.at("graph"), true);
  EXPECT_EQ(train.at("graph_nodes"), 2);
  const nlohmann::json& eval = found.at("runs").at("eval");
  EXPECT_EQ(eval.at("scalars").at("top1").at("values"), std::vector<double>{0.75});
  EXPECT_EQ(eval.at("graph"), false);
}

}  // namespace
}  // namespace trainyard
