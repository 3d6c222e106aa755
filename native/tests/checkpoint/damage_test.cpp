// A checkpoint with any bit of any file changed, or any file cut, is not valid, and the reason
// names the file.
#include <gmock/gmock.h>

#include "common/checkpoint/checkpoint_manifest.h"
#include "run_folder.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

class Damage : public ::testing::TestWithParam<std::string> {
 protected:
  Damage() {
    const SampleCheckpoint older(10, 1);
    const SampleCheckpoint newer(20, 1);
    save_checkpoint(run_.path(), older.contents());
    save_checkpoint(run_.path(), newer.contents());
    whole_ = read_file(file());
  }
  std::string file() const { return run_.step(20) + "/" + GetParam(); }
  CheckpointInfo newer(bool verify) const { return list_checkpoints(run_.path(), verify).back(); }

  void expect_invalid(bool by_size) const {
    const CheckpointInfo info = newer(true);
    EXPECT_FALSE(info.valid);
    EXPECT_THAT(info.reason, HasSubstr(GetParam()));
    if (by_size) EXPECT_FALSE(newer(false).valid);
    EXPECT_EQ(newest_valid_checkpoint(run_.path())->step, 10);
  }

  RunFolder run_{RunFolder::On::memory};
  std::string whole_;
};

TEST_P(Damage, every_bit_counts) {
  const Manifest manifest = read_manifest(run_.step(20));
  int unnoticed = 0;
  for (size_t at = 0; at < whole_.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bytes = whole_;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
      put_file(file(), bytes);
      const CheckpointInfo info = newer(true);
      if (info.valid) {
        ++unnoticed;
        EXPECT_EQ(manifest_text(read_manifest(run_.step(20))), whole_) << "byte " << at << " bit " << bit;
      } else {
        EXPECT_THAT(info.reason, HasSubstr(GetParam()));
      }
    }
  // A manifest says nothing else when the name of its checksum alone is hit: eight letters, and
  // nothing but them.
  EXPECT_LE(unnoticed, GetParam() == "manifest.json" ? 64 : 0);
}

TEST_P(Damage, every_cut_counts) {
  for (size_t length = 0; length < whole_.size(); length += 7) {
    put_file(file(), whole_.substr(0, length));
    expect_invalid(true);
  }
  if (GetParam() != "manifest.json") {
    put_file(file(), whole_ + "x");
    expect_invalid(true);
  }
}

TEST_P(Damage, a_missing_file_or_a_folder_in_its_place_counts) {
  std::filesystem::remove(file());
  expect_invalid(true);
  std::filesystem::create_directory(file());
  expect_invalid(true);
}

TEST_P(Damage, reading_the_damaged_checkpoint_says_so) {
  std::string bytes = whole_;
  bytes[bytes.size() / 2] = static_cast<char>(static_cast<unsigned char>(bytes[bytes.size() / 2]) ^ 1U);
  put_file(file(), bytes);
  EXPECT_THAT(data_error([&] {
                read_checkpoint_state(run_.step(20));
                LoadedTensors::read(run_.step(20));
                LoadedTensors::read(run_.step(20) + "/optimizer.safetensors");
              }),
              HasSubstr(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Files, Damage,
                         ::testing::Values("model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

TEST(Damaged, a_manifest_without_a_checkpoints_files_is_invalid) {
  const RunFolder run(RunFolder::On::memory);
  const SampleCheckpoint sample(10, 1);
  save_checkpoint(run.path(), sample.contents());
  put_file(run.step(10) + "/manifest.json", manifest_text({10, 0, "mlp", 2, {}}));
  const CheckpointInfo info = list_checkpoints(run.path(), false).back();
  EXPECT_FALSE(info.valid);
  EXPECT_THAT(info.reason, HasSubstr("does not list model.safetensors"));
}

}  // namespace
}  // namespace trainyard
