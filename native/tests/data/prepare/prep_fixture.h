// What the tests of `prep` share: a folder to make shards in, what was left out, and what an error
// must leave behind.
#pragma once
#include <gmock/gmock.h>

#include <barrier>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/files.h"
#include "tests/data/support.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {

/// Sums among ranks that are threads of one process: each calls it with as many values.
class ThreadSum {
 public:
  explicit ThreadSum(int world) : meeting_(world) {}

  void operator()(std::span<double> values) {
    {
      const std::lock_guard lock(mutex_);
      sums_.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) sums_[i] += values[i];
    }
    meeting_.arrive_and_wait();
    for (size_t i = 0; i < values.size(); ++i) values[i] = sums_[i];
    meeting_.arrive_and_wait();
    {
      const std::lock_guard lock(mutex_);
      sums_.clear();
    }
    meeting_.arrive_and_wait();
  }

 private:
  std::barrier<> meeting_;
  std::mutex mutex_;
  std::vector<double> sums_;
};

/// Of a folder's files, the bytes by their names.
inline std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found[entry.path().filename().string()] = read_file(entry.path().string());
  }
  return found;
}

class PrepTest : public ::testing::Test {
 protected:
  PrepTest() {
    options_.to = folder_.path() + "/to";
    options_.shards = 2;
    options_.on_bad_image = [this](const std::string& path, const std::string& message) {
      left_out_.push_back(std::filesystem::path(path).filename().string() + ": " + message);
    };
  }

  /// Says what is wrong and what to do, and leaves nothing half-made.
  void expect_error(Exit code, const std::string& text) const {
    try {
      prep(options_);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr(text), ::testing::HasSubstr(". ")));
    }
    EXPECT_FALSE(std::filesystem::exists(options_.to));
    EXPECT_FALSE(std::filesystem::exists(options_.to + ".partial"));
  }

  TemporaryFolder folder_;
  PrepOptions options_;
  std::vector<std::string> left_out_;
};

}  // namespace trainyard
