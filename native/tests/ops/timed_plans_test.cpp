// --tune: which candidate is taken, by times that the test gives, and how that is kept.
#include "trainer/ops/plans/timed_plans.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "common/error.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

const PlanQuestion kQuestion{"A GPU, 8 multiprocessors", "cuDNN 9.19.0", "forward, 2x3x4x4"};
const std::vector<std::string> kFour{"engine 1", "engine 2 5=1", "engine 2 5=2", "engine 7"};

class Timed : public testing::Test {
 protected:
  Timed() {
    std::string pattern = (fs::temp_directory_path() / "trainyard-plans-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Timed() override { fs::remove_all(folder_); }

  TimedPlans make(const std::string& name = "fast", size_t most = 4) {
    return {name, most, folder_, [this](const std::string& line) { said_.push_back(line); }};
  }
  /// Of candidates with these milliseconds; counts what is measured.
  PlanTimer timer(std::vector<std::optional<double>> times) {
    return [this, times](size_t i) {
      ++measured_;
      return times.at(i);
    };
  }
  fs::path file() const { return fs::path(folder_) / "A-GPU-8-multiprocessors-cuDNN-9.19.0.tsv"; }
  std::string content() const {
    std::ifstream stream(file());
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::string folder_;
  std::vector<std::string> said_;
  int measured_ = 0;
};

TEST_F(Timed, TheFastestIsTaken) {
  EXPECT_EQ(make().choose(kQuestion, kFour, timer({3.0, 2.0, 1.0, 1.5})), 2U);
  EXPECT_EQ(measured_, 4);
}

TEST_F(Timed, WhatIsAsFastStaysWithCudnnsOrder) {
  EXPECT_EQ(make().choose(kQuestion, kFour, timer({1.0, 0.99, 0.985, 0.981})), 0U);
}

TEST_F(Timed, NoMoreAreMeasuredThanAreWanted) {
  EXPECT_EQ(make("fast", 2).choose(kQuestion, kFour, timer({3.0, 2.0, 1.0, 1.5})), 1U);
  EXPECT_EQ(measured_, 2);
}

TEST_F(Timed, WhatCannotBeMeasuredIsNotTaken) {
  const double nan = std::nan("");
  EXPECT_EQ(make().choose(kQuestion, kFour, timer({std::nullopt, nan, -1.0, 5.0})), 3U);
}

TEST_F(Timed, WithoutAnyTimeTheFirstIsTakenAndNotKept) {
  TimedPlans plans = make();
  const auto nothing = timer({std::nullopt, std::nullopt, std::nullopt, std::nullopt});
  EXPECT_EQ(plans.choose(kQuestion, kFour, nothing), 0U);
  EXPECT_EQ(plans.chosen(kQuestion), "");
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_NE(plans.summary().find("1 by cuDNN alone"), std::string::npos) << plans.summary();
}

TEST_F(Timed, AChoiceIsTheSameAtTheNextStart) {
  make().choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0}));
  TimedPlans next = make();
  EXPECT_EQ(next.chosen(kQuestion), "engine 2 5=1");
  // Other times: nothing is measured again.
  EXPECT_EQ(next.choose(kQuestion, kFour, timer({0.1, 1.0, 2.0, 2.0})), 1U);
  EXPECT_EQ(measured_, 4);
  EXPECT_EQ(content(),
            "trainyard plans 1\tA GPU, 8 multiprocessors\tcuDNN 9.19.0\n"
            "fast forward, 2x3x4x4\tengine 2 5=1\t1\n"
            "end\t1\n");
  EXPECT_TRUE(said_.empty());
  EXPECT_TRUE(
      next.summary().starts_with("0 choices of a convolution's kernel (cuDNN's plan of a pass, or our kernel in its "
                                 "place) were made by time in 0.0 s, 1 as they were made before"))
      << next.summary();
  EXPECT_NE(next.summary().find(file().string()), std::string::npos) << next.summary();
}

TEST_F(Timed, AChoiceIsOfOneDeviceLibraryWorkAndWay) {
  make().choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0}));
  for (const PlanQuestion& other : {PlanQuestion{"B GPU", kQuestion.library, kQuestion.work},
                                    PlanQuestion{kQuestion.device, "cuDNN 9.20.0", kQuestion.work},
                                    PlanQuestion{kQuestion.device, kQuestion.library, "forward, 4x3x4x4"}}) {
    EXPECT_EQ(make().chosen(other), "") << other.device << other.library << other.work;
  }
  EXPECT_EQ(make("full").chosen(kQuestion), "");
}

TEST_F(Timed, AChoiceThatIsNoCandidateAnyMoreIsMadeAnew) {
  make().choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0}));
  EXPECT_EQ(make().choose(kQuestion, {"engine 1", "engine 9"}, timer({3.0, 1.0})), 1U);
  EXPECT_EQ(make().chosen(kQuestion), "engine 9");
}

TEST_F(Timed, TwoFilesWhoseNamesAreAlikeAreToldApart) {
  make().choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0}));
  const PlanQuestion alike{"A GPU: 8 multiprocessors", kQuestion.library, kQuestion.work};
  EXPECT_EQ(make().chosen(alike), "");
  EXPECT_EQ(said_.size(), 1U);
}

/// Damage of every kind: a line says so, the choice is made anew, and the file is whole then.
TEST_F(Timed, ADamagedFileIsNotUsedAndIsReplaced) {
  make().choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0}));
  const std::string whole = content();
  std::vector<std::string> damaged{"", "\n", "trainyard plans 2\n", whole + "more\n", std::string(100, '\0')};
  for (size_t length = 1; length < whole.size(); ++length) damaged.push_back(whole.substr(0, length));
  for (const char* field : {"\t1\n", "\tengine 2 5=1", "fast forward, 2x3x4x4"}) {
    std::string text = whole;
    text.replace(text.find(field), std::string(field).size(), "");
    damaged.push_back(text);
  }
  std::string number = whole;
  number.replace(number.find("\t1\n"), 3, "\tx\n");
  damaged.push_back(number);
  for (const std::string& text : damaged) {
    std::ofstream(file(), std::ios::trunc) << text;
    said_.clear();
    TimedPlans plans = make();
    EXPECT_EQ(plans.chosen(kQuestion), "") << text;
    ASSERT_EQ(said_.size(), 1U) << text;
    EXPECT_NE(said_[0].find(file().string()), std::string::npos) << said_[0];
    EXPECT_EQ(plans.choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0})), 1U);
    EXPECT_EQ(content(), whole);
  }
}

TEST_F(Timed, WithoutAFolderChoicesLastAsLongAsTheProcess) {
  TimedPlans plans("fast", 4, "", [this](const std::string& line) { said_.push_back(line); });
  EXPECT_EQ(plans.choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0})), 1U);
  EXPECT_EQ(plans.chosen(kQuestion), "engine 2 5=1");
  EXPECT_TRUE(said_.empty());
}

TEST_F(Timed, AFolderThatCannotBeMadeIsSaidOnceAndNoError) {
  std::ofstream(folder_ + "/file") << "no folder";
  TimedPlans plans("fast", 4, folder_ + "/file/plans", [this](const std::string& line) { said_.push_back(line); });
  EXPECT_EQ(plans.choose(kQuestion, kFour, timer({3.0, 1.0, 2.0, 2.0})), 1U);
  EXPECT_EQ(plans.choose({kQuestion.device, kQuestion.library, "other"}, kFour, timer({3.0, 1.0, 2.0, 2.0})), 1U);
  EXPECT_EQ(said_.size(), 1U);
}

/// Several processes that ask at once, with clocks that disagree: one measures, and all take what it
/// found.
TEST_F(Timed, ProcessesThatAskAtOnceTakeTheSame) {
  constexpr int kProcesses = 8;
  const std::string counts = folder_ + "/counts";
  fs::create_directory(counts);
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      TimedPlans plans("fast", 4, folder_, [](const std::string&) {});
      size_t chosen = 0;
      for (int work = 0; work < 10; ++work) {
        const PlanQuestion question{kQuestion.device, kQuestion.library, "work " + std::to_string(work)};
        const auto mine = static_cast<size_t>(p + work) % 4;
        chosen = chosen * 4 + plans.choose(question, kFour, [&](size_t i) {
          if (i == 0) std::ofstream(counts + "/" + std::to_string(work) + "-" + std::to_string(p)) << "measured";
          ::usleep(500);
          return i == mine ? 1.0 : 2.0;
        });
      }
      std::ofstream(folder_ + "/chosen-" + std::to_string(p)) << chosen;
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto chosen = [&](int p) {
    std::ifstream stream(folder_ + "/chosen-" + std::to_string(p));
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_FALSE(chosen(0).empty());
  for (int p = 1; p < kProcesses; ++p) EXPECT_EQ(chosen(p), chosen(0)) << p;
  EXPECT_EQ(std::distance(fs::directory_iterator(counts), fs::directory_iterator()), 10);
}

TEST(Tune, IsAboutGpusAndKnowsItsNames) {
  EXPECT_EQ(make_timed_plans("none"), nullptr);
  EXPECT_GT(make_timed_plans("full")->most_candidates(), make_timed_plans("fast")->most_candidates());
  EXPECT_THROW(make_timed_plans("best"), Error);
  EXPECT_EQ(tune_on("", "cuda"), "fast");
  EXPECT_EQ(tune_on("", "cpu"), "none");
  EXPECT_EQ(tune_on("full", "cuda"), "full");
  EXPECT_NO_THROW(check_tune("", "cpu"));
  EXPECT_NO_THROW(check_tune("none", "cpu"));
  EXPECT_NO_THROW(check_tune("fast", "cuda"));
  EXPECT_THROW(check_tune("fast", "cpu"), Error);
}

}  // namespace
}  // namespace trainyard
