// Which fused kernel is taken, by times and by checks that the test gives.
#include "trainer/ops/cuda/fused/fused_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "trainer/ops/plans/timed_plans.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

using cuda::choose_fused;
using cuda::FusedCandidate;
using cuda::FusedChecks;
using cuda::FusedWork;

const PlanQuestion kQuestion{"A GPU, 8 multiprocessors", "cuDNN 9.19.0", "forward with sums"};

/// Work with two fused kernels, `wide` and `narrow`. Counts what is measured and checked.
class Fused : public testing::Test {
 protected:
  Fused() {
    std::string pattern = (fs::temp_directory_path() / "trainyard-fused-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Fused() override { fs::remove_all(folder_); }

  /// As at a start of the trainer: choices come from the file, kernels are not yet checked.
  void start() {
    plans_ = std::make_unique<TimedPlans>("fast", 4, folder_, [](const std::string& line) { ADD_FAILURE() << line; });
    checks_ = FusedChecks("cuda:0 A GPU", [this](const std::string& line) { said_.push_back(line); });
    measured_.clear();
    checked_.clear();
    said_.clear();
  }

  FusedWork work(double apart, double wide, double narrow) {
    return {kQuestion, measure("apart", apart), {candidate("wide", wide), candidate("narrow", narrow)}};
  }

  /// Names of the chosen kernels.
  std::string choose(const FusedWork& work, bool by_time = true) {
    const auto chosen = choose_fused(by_time ? plans_.get() : nullptr, checks_, work);
    return chosen ? work.candidates.at(*chosen).name : "apart";
  }

  std::string wrong_;  ///< the kernels that compute wrongly, one after the other
  std::vector<std::string> measured_, checked_, said_;
  std::unique_ptr<TimedPlans> plans_;

 private:
  cuda::MeasureWork measure(const std::string& name, double milliseconds) {
    return [=, this]() -> std::optional<double> {
      measured_.push_back(name);
      return milliseconds > 0 ? std::optional<double>(milliseconds) : std::nullopt;
    };
  }
  FusedCandidate candidate(const std::string& name, double milliseconds) {
    const auto check = [=, this]() -> std::string {
      checked_.push_back(name);
      return wrong_.find(name) == std::string::npos ? "" : "column 3 is 2 instead of 1";
    };
    return {name, "sums of " + name, check, measure(name, milliseconds)};
  }

  std::string folder_;
  FusedChecks checks_{"", {}};
};

using Names = std::vector<std::string>;

TEST_F(Fused, TheFastestIsTaken) {
  start();
  EXPECT_EQ(choose(work(3, 2, 1)), "narrow");
  EXPECT_EQ(measured_, (Names{"apart", "wide", "narrow"}));
  EXPECT_EQ(checked_, (Names{"wide", "narrow"}));
}

TEST_F(Fused, WhatIsNotFasterThanItsPartsIsNotTaken) {
  start();
  EXPECT_EQ(choose(work(1, 2, 0.99)), "apart");
}

TEST_F(Fused, WithoutTimesItsPartsAreTaken) {
  start();
  EXPECT_EQ(choose(work(0, 0, 0)), "apart");
  EXPECT_EQ(plans_->chosen(kQuestion), "");
}

TEST_F(Fused, WithoutAChooserTheFirstIsTaken) {
  start();
  EXPECT_EQ(choose(work(1, 3, 2), false), "wide");
  EXPECT_TRUE(measured_.empty());
  EXPECT_EQ(checked_, Names{"wide"});
}

TEST_F(Fused, WhatWasChosenIsTakenAtTheNextStartWithoutMeasuring) {
  start();
  EXPECT_EQ(choose(work(3, 2, 1)), "narrow");
  start();
  EXPECT_EQ(choose(work(1, 2, 3)), "narrow");
  EXPECT_TRUE(measured_.empty());
  EXPECT_EQ(checked_, Names{"narrow"}) << "only what is used has to be checked";
}

TEST_F(Fused, SoAreItsParts) {
  start();
  EXPECT_EQ(choose(work(1, 2, 3)), "apart");
  start();
  EXPECT_EQ(choose(work(3, 2, 1)), "apart");
  EXPECT_TRUE(measured_.empty());
  EXPECT_TRUE(checked_.empty());
}

TEST_F(Fused, WhatComputesWronglyIsNeverTakenAndSaidOnce) {
  start();
  wrong_ = "narrow";
  EXPECT_EQ(choose(work(3, 2, 1)), "wide");
  EXPECT_EQ(measured_, (Names{"apart", "wide"}));
  EXPECT_EQ(choose(work(3, 2, 1)), "wide");
  EXPECT_EQ(checked_, (Names{"wide", "narrow"}));
  ASSERT_EQ(said_.size(), 1U);
  for (const char* part : {"sums of narrow", "cuda:0 A GPU", "column 3 is 2 instead of 1", "report"}) {
    EXPECT_NE(said_[0].find(part), std::string::npos) << said_[0];
  }
}

TEST_F(Fused, WithoutARightKernelItsPartsAreTakenAndNothingIsMeasured) {
  start();
  wrong_ = "wide narrow";
  EXPECT_EQ(choose(work(3, 2, 1)), "apart");
  EXPECT_EQ(choose(work(3, 2, 1), false), "apart");
  EXPECT_TRUE(measured_.empty());
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(Fused, AChoiceThatComputesWronglyNowIsMadeAnew) {
  start();
  EXPECT_EQ(choose(work(3, 2, 1)), "narrow");
  start();
  wrong_ = "narrow";
  EXPECT_EQ(choose(work(3, 2, 1)), "wide");
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(Fused, WithoutCandidatesNobodyIsAsked) {
  start();
  FusedWork none = work(3, 2, 1);
  none.candidates.clear();
  EXPECT_EQ(choose(none), "apart");
  EXPECT_TRUE(measured_.empty());
}

}  // namespace
}  // namespace trainyard
