// safetensors files: written as the format's own library writes them, read back bit for bit.
#include <gmock/gmock.h>

#include <bit>
#include <cstring>
#include <limits>

#include "run_folder.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

CheckpointContents two_tensors(std::span<const float> bias, std::span<const float> weight) {
  CheckpointContents contents;
  contents.step = 7;
  contents.tensors = {{"bias", {1}, bias}, {"weight", {2, 3}, weight}};
  contents.counters = {{"bn.num_batches_tracked", 7}};
  contents.state = nlohmann::json::object();
  return contents;
}

// The bytes are those of safetensors 0.8.0 for the same tensors: save({...}, metadata={"format":
// "pt"}).
TEST(Safetensors, writes_the_bytes_of_the_reference_library) {
  const RunFolder run;
  const std::vector<float> bias{-1};
  const std::vector<float> weight{1, 2, 3, 4, 5, 6.5};
  save_checkpoint(run.path(), two_tensors(bias, weight));
  using namespace std::string_literals;
  const std::string expected =
      "\xe0\0\0\0\0\0\0\0"s
      R"({"__metadata__":{"format":"pt"},"bn.num_batches_tracked":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("weight":{"dtype":"F32","shape":[2,3],"data_offsets":[12,36]}})"
      "\x07\0\0\0\0\0\0\0"
      "\0\0\x80\xbf"
      "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xd0\x40"s;
  EXPECT_EQ(read_file(run.step(7) + "/model.safetensors"), expected);
}

TEST(Safetensors, reads_back_every_bit) {
  const RunFolder run;
  const std::vector<float> bias{std::bit_cast<float>(0x7fc01234U)};
  const std::vector<float> weight{-0.0F,
                                  std::numeric_limits<float>::denorm_min(),
                                  std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::max(),
                                  1.0F / 3,
                                  -1e-30F};
  save_checkpoint(run.path(), two_tensors(bias, weight));
  const LoadedTensors loaded = LoadedTensors::read(run.step(7) + "/model.safetensors");
  std::vector<float> values(6);
  loaded.copy("weight", {2, 3}, values);
  EXPECT_EQ(std::memcmp(values.data(), weight.data(), weight.size() * sizeof(float)), 0);
  loaded.copy("bias", {1}, std::span(values).first(1));
  EXPECT_EQ(std::bit_cast<uint32_t>(values[0]), 0x7fc01234U);
  EXPECT_EQ(loaded.counter("bn.num_batches_tracked"), 7);
  ASSERT_EQ(loaded.entries().size(), 3U);
  EXPECT_EQ(loaded.entries()[0].name, "bn.num_batches_tracked");
  EXPECT_EQ(loaded.entries()[2].shape, (std::vector<int64_t>{2, 3}));
}

TEST(Safetensors, asking_for_the_wrong_thing_names_file_and_tensor) {
  const RunFolder run;
  const std::vector<float> bias{-1};
  const std::vector<float> weight(6);
  save_checkpoint(run.path(), two_tensors(bias, weight));
  const LoadedTensors loaded = LoadedTensors::read(run.step(7));
  std::vector<float> out(6);
  EXPECT_THAT(data_error([&] { loaded.copy("weight", {3, 2}, out); }), HasSubstr("weight has the shape 2x3, not 3x2"));
  EXPECT_THAT(data_error([&] { loaded.copy("fc.weight", {6}, out); }), HasSubstr("no tensor fc.weight"));
  EXPECT_THAT(data_error([&] { loaded.copy("bn.num_batches_tracked", {}, out); }), HasSubstr("is I64, not F32"));
  EXPECT_THAT(data_error([&] { loaded.counter("bias"); }), HasSubstr("model.safetensors: bias is F32, not I64"));
  EXPECT_EQ(loaded.find("nothing"), nullptr);
}

TEST(Safetensors, empty_tensors_and_no_tensors_are_fine) {
  const RunFolder run;
  CheckpointContents contents;
  contents.step = 1;
  contents.tensors = {{"none", {0, 3}, {}}};
  contents.state = nlohmann::json::object();
  save_checkpoint(run.path(), contents);
  LoadedTensors::read(run.step(1)).copy("none", {0, 3}, {});
  EXPECT_TRUE(LoadedTensors::read(run.step(1) + "/optimizer.safetensors").entries().empty());
}

TEST(Safetensors, a_bare_file_needs_no_manifest_but_one_in_a_checkpoint_does) {
  const RunFolder run;
  const SampleCheckpoint sample(10, 1);
  save_checkpoint(run.path(), sample.contents());
  const std::string bare = run.path() + "/weights.safetensors";
  std::filesystem::copy_file(run.step(10) + "/model.safetensors", bare);
  EXPECT_NE(LoadedTensors::read(bare).find("weight"), nullptr);
  put_file(run.path() + "/manifest.json", "{\"another\": \"program's\"}");
  EXPECT_NE(LoadedTensors::read(bare).find("weight"), nullptr);

  std::filesystem::remove(run.step(10) + "/manifest.json");
  for (const std::string& path : {run.step(10), run.step(10) + "/model.safetensors"})
    EXPECT_THAT(data_error([&] { LoadedTensors::read(path); }), HasSubstr("manifest.json"));
  EXPECT_THAT(data_error([&] { LoadedTensors::read(run.path()); }), HasSubstr("model.safetensors"));
}

TEST(Safetensors, what_cannot_be_opened_is_named) {
  const RunFolder run;
  EXPECT_THAT(data_error([&] { LoadedTensors::read(run.path() + "/missing.safetensors"); }),
              HasSubstr("missing.safetensors: No such file"));
  EXPECT_THAT(data_error([&] { LoadedTensors::read("/dev/zero"); }), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace trainyard
