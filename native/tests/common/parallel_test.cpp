#include "trainer/base/parallel.h"

#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

namespace trainyard {
namespace {

// ThreadSanitizer's build starts threads of its own, which OpenMP's variables do not reach.
constexpr bool kOpenMp = !__has_feature(thread_sanitizer);

std::vector<int> visits(size_t count) {
  std::vector<int> seen(count, 0);
  parallel_for(seen.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) ++seen[i];
  });
  return seen;
}

TEST(Parallel, every_index_once) {
  set_threads(3);
  EXPECT_THAT(visits(1001), ::testing::Each(1));
}

TEST(Parallel, an_exception_reaches_the_caller) {
  set_threads(2);
  const auto loop = [] { parallel_for(10, 1, [](size_t, size_t) { throw std::runtime_error("inside"); }); };
  EXPECT_THROW(loop(), std::runtime_error);
}

TEST(Parallel, a_loop_within_a_loop_leaves_nothing_out) {
  set_threads(2);
  std::array<std::vector<int>, 2> inner;
  parallel_for(2, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) inner[i] = visits(100);
  });
  EXPECT_THAT(inner, ::testing::Each(::testing::AllOf(::testing::SizeIs(100), ::testing::Each(1))));
}

TEST(Parallel, threads_says_how_many_there_are) {
  if (!kOpenMp) GTEST_SKIP() << "this build of parallel_for is not OpenMP's";
  const ThreadCount count = set_threads(3);
  EXPECT_EQ(count.wanted, 3);
  EXPECT_EQ(threads(), count.got);
  const char* limit = std::getenv("OMP_THREAD_LIMIT");
  EXPECT_EQ(count.got, limit == nullptr ? 3 : 1);
  EXPECT_THAT(visits(7), ::testing::Each(1));
}

TEST(Parallel, what_openmp_was_told_is_named) {
  if (!kOpenMp) GTEST_SKIP() << "this build of parallel_for is not OpenMP's";
  // A thread begins with what OpenMP was told, whatever another has set.
  const auto ask = [](int wanted) { return std::async(std::launch::async, set_threads, wanted).get().text(); };
  const std::string said = ask(3).value_or("");
  for (const char* variable : {"OMP_THREAD_LIMIT", "OMP_DYNAMIC", "OMP_MAX_ACTIVE_LEVELS"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr) {
      EXPECT_THAT(said, ::testing::Not(::testing::HasSubstr(variable)));
    } else {
      EXPECT_THAT(said, ::testing::HasSubstr(std::string(variable) + "=" + value));
    }
  }
  EXPECT_EQ(ask(1), std::nullopt);
}

/// OpenMP reads its variables once, when the program starts: so the tests above run again in a
/// process of their own.
class ParallelUnder : public ::testing::TestWithParam<const char*> {};

TEST_P(ParallelUnder, the_same) {
  if (!kOpenMp) GTEST_SKIP() << "this build of parallel_for is not OpenMP's";
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string filter = "--gtest_filter=Parallel.*";
  std::string setting = GetParam();
  const std::array<char*, 3> words = {self.data(), filter.data(), nullptr};
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(setting.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, self.c_str(), nullptr, nullptr, words.data(), environment.data()), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "under " << setting;
}

INSTANTIATE_TEST_SUITE_P(Variables, ParallelUnder,
                         ::testing::Values("OMP_THREAD_LIMIT=1", "OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0"),
                         [](const auto& test) {
                           const std::string setting = test.param;
                           return setting.substr(0, setting.find('='));
                         });

}  // namespace
}  // namespace trainyard
