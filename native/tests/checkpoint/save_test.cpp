// What a saved checkpoint looks like, and what lists of them say.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/hash/sha256.h"
#include "common/process.h"
#include "run_folder.h"

namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SaveCheckpoint, lies_on_disk_as_the_contract_says) {
  const RunFolder run;
  const SampleCheckpoint sample(120, 3);
  const double before = now_seconds();
  const CheckpointInfo info = save_checkpoint(run.path(), sample.contents());
  EXPECT_EQ(info.path, run.path() + "/checkpoints/step-00000120");
  EXPECT_EQ(info.step, 120);
  EXPECT_TRUE(info.valid);
  EXPECT_THAT(run.names(), ElementsAre("step-00000120"));

  const json manifest = json::parse(read_file(info.path + "/manifest.json"));
  EXPECT_EQ(manifest.at("version"), 1);
  EXPECT_EQ(manifest.at("step"), 120);
  EXPECT_EQ(manifest.at("model"), "mlp");
  EXPECT_EQ(manifest.at("classes"), 2);
  EXPECT_GE(manifest.at("time").get<double>(), before);
  EXPECT_EQ(manifest.at("time").get<double>(), info.time);
  std::vector<std::string> names;
  uint64_t bytes = std::filesystem::file_size(info.path + "/manifest.json");
  for (const json& file : manifest.at("files")) {
    const std::string name = file.at("name");
    const std::string content = read_file(info.path + "/" + name);
    EXPECT_EQ(file.at("bytes"), content.size());
    EXPECT_EQ(file.at("sha256"), sha256_hex(content));
    names.push_back(name);
    bytes += content.size();
  }
  EXPECT_THAT(names, ElementsAre("model.safetensors", "optimizer.safetensors", "state.json"));
  EXPECT_EQ(info.bytes, bytes);
  EXPECT_EQ(json::parse(read_file(info.path + "/state.json")), sample.contents().state);
  EXPECT_EQ(read_checkpoint_state(info.path), sample.contents().state);

  struct stat status{};
  ASSERT_EQ(::stat(info.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST(SaveCheckpoint, the_list_says_what_save_said_oldest_first) {
  const RunFolder run;
  EXPECT_TRUE(list_checkpoints(run.path(), true).empty());
  EXPECT_FALSE(newest_valid_checkpoint(run.path()));
  std::vector<CheckpointInfo> saved;
  for (const int64_t step : {int64_t{9}, int64_t{100}, int64_t{1000}, int64_t{123456789}}) {
    const SampleCheckpoint sample(step, 1);
    saved.push_back(save_checkpoint(run.path(), sample.contents()));
  }
  EXPECT_TRUE(saved.back().path.ends_with("/step-123456789"));
  for (const bool verify : {false, true}) {
    const std::vector<CheckpointInfo> found = list_checkpoints(run.path(), verify);
    ASSERT_EQ(found.size(), saved.size());
    for (size_t i = 0; i < saved.size(); ++i) {
      EXPECT_EQ(found[i].step, saved[i].step);
      EXPECT_EQ(found[i].path, saved[i].path);
      EXPECT_EQ(found[i].bytes, saved[i].bytes);
      EXPECT_EQ(found[i].time, saved[i].time);
      EXPECT_TRUE(found[i].valid) << found[i].reason;
      EXPECT_EQ(found[i].reason, "");
    }
  }
  EXPECT_EQ(newest_valid_checkpoint(run.path())->step, 123456789);
}

TEST(SaveCheckpoint, a_step_reached_again_is_replaced) {
  const RunFolder run;
  for (const int generation : {1, 2}) {
    const SampleCheckpoint sample(10, generation);
    save_checkpoint(run.path(), sample.contents());
    EXPECT_EQ(generation_of(*newest_valid_checkpoint(run.path())), generation);
    EXPECT_THAT(run.names(), ElementsAre("step-00000010"));
  }
}

TEST(SaveCheckpoint, whatever_else_stands_at_the_step_is_replaced) {
  const RunFolder run;
  const SampleCheckpoint sample(10, 2);
  std::filesystem::create_directories(run.step(10) + "/nested/deeper");
  put_file(run.step(10) + "/manifest.json", "half a mani");
  std::filesystem::create_directories(run.checkpoints() + "/.tmp-step-00000010/nested");
  put_file(run.checkpoints() + "/.tmp-step-00000010/model.safetensors", "half");
  save_checkpoint(run.path(), sample.contents());
  EXPECT_EQ(generation_of(*newest_valid_checkpoint(run.path())), 2);
  EXPECT_THAT(run.names(), ElementsAre("step-00000010"));
}

TEST(SaveCheckpoint, a_class_name_that_is_no_utf8_costs_no_checkpoint) {
  const RunFolder run;
  CheckpointContents contents;
  contents.step = 1;
  contents.state = {{"class_names", {"caf\xe9"}}};
  save_checkpoint(run.path(), contents);
  EXPECT_EQ(read_checkpoint_state(run.step(1)).at("class_names").at(0), "caf\xef\xbf\xbd");
}

TEST(SaveCheckpoint, a_missing_run_folder_is_named) {
  const RunFolder run;
  const SampleCheckpoint sample(10, 1);
  EXPECT_THAT(data_error([&] { save_checkpoint(run.path() + "/missing", sample.contents()); }),
              HasSubstr("/missing/checkpoints: No such file"));
}

TEST(SaveCheckpoint, a_tensor_that_does_not_fit_its_shape_leaves_nothing) {
  const RunFolder run;
  const std::vector<float> values(5);
  CheckpointContents contents;
  contents.tensors = {{"weight", {2, 3}, values}};
  try {
    save_checkpoint(run.path(), contents);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::internal);
  }
  EXPECT_THAT(run.names(), ElementsAre());
}

TEST(ListCheckpoints, other_names_are_not_checkpoints) {
  const RunFolder run;
  const SampleCheckpoint sample(10, 1);
  save_checkpoint(run.path(), sample.contents());
  for (const char* name :
       {"step-10", "step-000000010", "step-0000001x", "step-", "step--0000010", "x", ".tmp-step-00000020"})
    std::filesystem::copy(run.step(10), run.checkpoints() + "/" + name);
  const std::vector<CheckpointInfo> found = list_checkpoints(run.path(), true);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].step, 10);
}

TEST(ListCheckpoints, a_checkpoint_under_another_step_is_invalid) {
  const RunFolder run;
  const SampleCheckpoint sample(10, 1);
  save_checkpoint(run.path(), sample.contents());
  std::filesystem::rename(run.step(10), run.step(20));
  const std::vector<CheckpointInfo> found = list_checkpoints(run.path(), false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].valid);
  EXPECT_THAT(found[0].reason, HasSubstr("is of step 10"));
}

}  // namespace
}  // namespace trainyard
