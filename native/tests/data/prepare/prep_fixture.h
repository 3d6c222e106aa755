// What the tests of `prep` share: a folder to make shards in, what was left out, and what an error
// must leave behind.
#pragma once
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/data/support.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {

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
