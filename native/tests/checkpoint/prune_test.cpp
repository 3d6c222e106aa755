// Which checkpoints are kept.
#include <gmock/gmock.h>

#include "run_folder.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class Prune : public ::testing::Test {
 protected:
  void save(std::initializer_list<int64_t> steps) {
    for (const int64_t step : steps) {
      const SampleCheckpoint sample(step, 1);
      save_checkpoint(run_.path(), sample.contents());
    }
  }
  // The size stays as it was: only the SHA-256 tells.
  void flip_a_bit(int64_t step) const {
    const std::string path = run_.step(step) + "/model.safetensors";
    std::string bytes = read_file(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    put_file(path, bytes);
  }
  void cut(int64_t step) const { put_file(run_.step(step) + "/model.safetensors", "x"); }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> steps;
    for (const CheckpointInfo& info : list_checkpoints(run_.path(), false)) steps.push_back(info.step);
    return steps;
  }

  RunFolder run_;
};

TEST_F(Prune, keeps_the_newest_and_the_best) {
  save({1, 2, 3, 4, 5});
  prune_checkpoints(run_.path(), 2, 2);
  EXPECT_THAT(steps(), ElementsAre(2, 4, 5));
  prune_checkpoints(run_.path(), 2, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(4, 5));
  prune_checkpoints(run_.path(), 7, 99);
  EXPECT_THAT(steps(), ElementsAre(4, 5));
  EXPECT_THAT(run_.names(), ElementsAre("step-00000004", "step-00000005"));
}

TEST_F(Prune, always_keeps_one) {
  save({1, 2});
  prune_checkpoints(run_.path(), 0, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(2));
  prune_checkpoints(run_.path(), -3, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(2));
}

TEST_F(Prune, invalid_ones_go_when_older_than_a_valid_one_and_do_not_count) {
  save({1, 2, 3, 4, 5});
  cut(2);
  cut(5);
  prune_checkpoints(run_.path(), 2, 2);
  EXPECT_THAT(steps(), ElementsAre(3, 4, 5));  // 5, cut, is newer than the newest valid one
}

TEST_F(Prune, nothing_goes_while_no_newer_one_is_whole) {
  save({1, 2, 3});
  flip_a_bit(2);
  flip_a_bit(3);
  prune_checkpoints(run_.path(), 1, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3));
  EXPECT_EQ(newest_valid_checkpoint(run_.path())->step, 1);
  flip_a_bit(1);
  prune_checkpoints(run_.path(), 1, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3));
}

TEST_F(Prune, leftovers_go) {
  prune_checkpoints(run_.path(), 1, std::nullopt);  // no checkpoints folder yet
  save({1});
  std::filesystem::create_directories(run_.checkpoints() + "/.tmp-step-00000002/deep");
  put_file(run_.checkpoints() + "/.tmp-step-00000002/deep/file", "x");
  std::filesystem::create_directory_symlink(run_.step(1), run_.checkpoints() + "/.tmp-link");
  prune_checkpoints(run_.path(), 1, std::nullopt);
  EXPECT_THAT(run_.names(), ElementsAre("step-00000001"));
  EXPECT_EQ(generation_of(*newest_valid_checkpoint(run_.path())), 1);
}

TEST_F(Prune, a_replaced_one_gets_its_name_back_where_nothing_whole_took_it) {
  save({1, 2});
  std::filesystem::rename(run_.step(2), run_.checkpoints() + "/.old-step-00000002");
  EXPECT_EQ(generation_of(*newest_valid_checkpoint(run_.path())), 1);
  EXPECT_EQ(newest_valid_checkpoint(run_.path())->step, 2);
  prune_checkpoints(run_.path(), 5, std::nullopt);
  EXPECT_THAT(run_.names(), ElementsAre("step-00000001", "step-00000002"));

  std::filesystem::copy(run_.step(2), run_.checkpoints() + "/.old-step-00000002");
  cut(2);
  prune_checkpoints(run_.path(), 5, std::nullopt);
  EXPECT_THAT(run_.names(), ElementsAre("step-00000001", "step-00000002"));
  EXPECT_EQ(newest_valid_checkpoint(run_.path())->step, 2);
}

}  // namespace
}  // namespace trainyard
