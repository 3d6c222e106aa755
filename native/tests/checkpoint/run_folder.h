// A run folder for one test, and small checkpoints whose every value says which one it is.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/files.h"
#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {

class RunFolder {
 public:
  /// On disk, or in memory (where this machine has /dev/shm) for tests that save hundreds of times.
  enum class On { disk, memory };
  explicit RunFolder(On on = On::disk) {
    const bool in_memory = on == On::memory && ::access("/dev/shm", W_OK) == 0;
    const std::string base = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    std::string pattern = base + "/trainyard-checkpoint-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw file_error("create", pattern);
    path_ = pattern;
  }
  ~RunFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string checkpoints() const { return path_ + "/checkpoints"; }
  std::string step(int64_t step) const {
    const std::string digits = std::to_string(step);
    return checkpoints() + "/step-" + std::string(8 - digits.size(), '0') + digits;
  }
  /// What stands in checkpoints/, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

/// A small checkpoint: every value derives from `step` and `generation`, so that a mixture of two
/// would show.
class SampleCheckpoint {
 public:
  SampleCheckpoint(int64_t step, int generation, size_t values = 12) : weights_(values), momentum_(values) {
    for (size_t i = 0; i < values; ++i) {
      weights_[i] = static_cast<float>(step * 100 + generation) + static_cast<float>(i) / 16;
      momentum_[i] = -weights_[i];
    }
    contents_.step = step;
    contents_.model = "mlp";
    contents_.classes = 2;
    contents_.tensors = {{"weight", {static_cast<int64_t>(values)}, weights_}};
    contents_.counters = {{"bn.num_batches_tracked", step}};
    contents_.optimizer = {{"weight.momentum", {static_cast<int64_t>(values)}, momentum_}};
    contents_.state = {{"version", 1}, {"step", step}, {"generation", generation}};
  }
  SampleCheckpoint(const SampleCheckpoint&) = delete;
  SampleCheckpoint& operator=(const SampleCheckpoint&) = delete;

  const CheckpointContents& contents() const { return contents_; }

 private:
  std::vector<float> weights_;
  std::vector<float> momentum_;
  CheckpointContents contents_;
};

/// Reads a checkpoint whole and returns its generation; fails where its parts are not of one piece.
inline int generation_of(const CheckpointInfo& info) {
  const nlohmann::json state = read_checkpoint_state(info.path);
  const int generation = state.at("generation").get<int>();
  EXPECT_EQ(state.at("step").get<int64_t>(), info.step);
  const SampleCheckpoint expected(info.step, generation);
  const LoadedTensors model = LoadedTensors::read(info.path);
  const LoadedTensors optimizer = LoadedTensors::read(info.path + "/optimizer.safetensors");
  const std::span<const float> weights = expected.contents().tensors[0].values;
  std::vector<float> values(weights.size());
  const std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
  model.copy("weight", shape, values);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), weights.begin())) << info.path;
  optimizer.copy("weight.momentum", shape, values);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.contents().optimizer[0].values.begin())) << info.path;
  EXPECT_EQ(model.counter("bn.num_batches_tracked"), info.step);
  return generation;
}

inline void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The message of the Error(Exit::data) that `call` throws; empty, with a failure, where it throws
/// none.
template <typename Call>
std::string data_error(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace trainyard
