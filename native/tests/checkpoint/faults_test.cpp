// Every call that saving and pruning make, made to fail or to be the process's last: the newest
// valid checkpoint loads, the last valid one is never gone, and nothing half-made is taken for
// whole.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "faulty_files.h"
#include "run_folder.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

void save(const std::string& run, int64_t step, int generation) {
  const SampleCheckpoint sample(step, generation);
  save_checkpoint(run, sample.contents());
}

void save(const std::string& run, int64_t step, int generation, FileSystem& files) {
  const SampleCheckpoint sample(step, generation);
  save_checkpoint(run, sample.contents(), files);
}

struct Scenario {
  std::string name;
  std::function<void(const RunFolder&)> before;
  std::function<void(const std::string&, FileSystem&)> act;
  std::map<int64_t, std::set<int>> always;  ///< these steps are valid at any time, of one of these generations
  std::map<int64_t, std::set<int>> maybe;   ///< and these may be
  bool can_exchange = true;
  bool is_save = true;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

void flip_last_bit(const std::string& path) {
  std::string bytes = read_file(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put_file(path, bytes);
}

std::vector<Scenario> scenarios() {
  const auto save_10 = [](const RunFolder& run) { save(run.path(), 10, 1); };
  const auto save_10_again = [](const std::string& run, FileSystem& files) { save(run, 10, 2, files); };
  const auto four = [](const RunFolder& run) {
    for (const int64_t step : {10, 20, 30, 40}) save(run.path(), step, 1);
    put_file(run.step(20) + "/state.json", "cut");
    std::filesystem::create_directory(run.checkpoints() + "/.tmp-step-00000050");
    put_file(run.checkpoints() + "/.tmp-step-00000050/model.safetensors", "half");
  };
  return {
      {"the_first",
       [](const RunFolder&) {},
       [](const std::string& run, FileSystem& files) { save(run, 10, 1, files); },
       {},
       {{10, {1}}}},
      {"another",
       save_10,
       [](const std::string& run, FileSystem& files) { save(run, 20, 1, files); },
       {{10, {1}}},
       {{20, {1}}}},
      {"the_same_step", save_10, save_10_again, {{10, {1, 2}}}, {}},
      {"the_same_step_without_exchange", save_10, save_10_again, {{10, {1, 2}}}, {}, false},
      {"the_same_step_after_a_cut_replacement",
       [](const RunFolder& run) {
         save(run.path(), 10, 1);
         std::filesystem::rename(run.step(10), run.checkpoints() + "/.old-step-00000010");
       },
       save_10_again,
       {{10, {1, 2}}},
       {},
       false},
      {"the_same_step_with_both_left_of_a_replacement",
       [](const RunFolder& run) {
         save(run.path(), 10, 1);
         std::filesystem::copy(run.step(10), run.checkpoints() + "/.old-step-00000010");
       },
       save_10_again,
       {{10, {1, 2}}},
       {},
       false},
      {"the_same_step_over_a_damaged_one",
       [](const RunFolder& run) {
         save(run.path(), 5, 1);
         save(run.path(), 10, 1);
         flip_last_bit(run.step(10) + "/model.safetensors");
       },
       save_10_again,
       {{5, {1}}},
       {{10, {2}}}},
      {"prune",
       four,
       [](const std::string& run, FileSystem& files) { prune_checkpoints(run, 1, 10, files); },
       {{10, {1}}, {40, {1}}},
       {{30, {1}}},
       true,
       false},
      {"prune_with_the_newest_damaged",
       [](const RunFolder& run) {
         for (const int64_t step : {10, 20, 30}) save(run.path(), step, 1);
         flip_last_bit(run.step(30) + "/optimizer.safetensors");
       },
       [](const std::string& run, FileSystem& files) { prune_checkpoints(run, 1, std::nullopt, files); },
       {{20, {1}}},
       {{10, {1}}},
       true,
       false},
  };
}

class Faults : public ::testing::TestWithParam<Scenario> {
 protected:
  // Whatever happened: what is listed as valid loads whole, and what must be there is.
  static void expect_sound(const std::string& run) {
    std::map<int64_t, int> valid;
    for (const CheckpointInfo& info : list_checkpoints(run, true))
      if (info.valid) valid[info.step] = generation_of(info);
    for (const auto& [step, generations] : GetParam().always) {
      ASSERT_TRUE(valid.contains(step)) << "step " << step << " is gone";
      EXPECT_TRUE(generations.contains(valid[step])) << step;
    }
    for (const auto& [step, generation] : valid) {
      const auto& known = GetParam().always.contains(step) ? GetParam().always : GetParam().maybe;
      ASSERT_TRUE(known.contains(step)) << "step " << step << " ought not to be valid";
      EXPECT_TRUE(known.at(step).contains(generation)) << step;
    }
    const std::optional<CheckpointInfo> newest = newest_valid_checkpoint(run);
    ASSERT_EQ(newest.has_value(), !valid.empty());
    if (newest) EXPECT_EQ(newest->step, valid.rbegin()->first);
  }

  // The next start: all is cleared away, and saving works.
  static void expect_recovery(const RunFolder& run) {
    const std::optional<CheckpointInfo> before = newest_valid_checkpoint(run.path());
    prune_checkpoints(run.path(), 99, std::nullopt);
    const std::optional<CheckpointInfo> after = newest_valid_checkpoint(run.path());
    ASSERT_EQ(before.has_value(), after.has_value());
    if (after) EXPECT_EQ(after->step, before->step);
    expect_sound(run.path());
    save(run.path(), 60, 3);
    EXPECT_EQ(generation_of(*newest_valid_checkpoint(run.path())), 3);
    for (const std::string& name : run.names()) EXPECT_TRUE(name.starts_with("step-")) << name;
  }

  static int calls_of_the_whole() {
    const RunFolder run(RunFolder::On::memory);
    GetParam().before(run);
    FaultyFiles files(Fault::none, 0, 0, GetParam().can_exchange);
    GetParam().act(run.path(), files);
    expect_sound(run.path());
    return files.calls();
  }

  static void end_at_every_call(Fault fault) {
    const int calls = calls_of_the_whole();
    ASSERT_GT(calls, 4);
    for (int at = 1; at <= calls; ++at) {
      SCOPED_TRACE("ended at call " + std::to_string(at) + " of " + std::to_string(calls));
      const RunFolder run(RunFolder::On::memory);
      GetParam().before(run);
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        try {
          FaultyFiles files(fault, at, EIO, GetParam().can_exchange);
          GetParam().act(run.path(), files);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
          ::_exit(1);
        }
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status));
      ASSERT_EQ(WEXITSTATUS(status), FaultyFiles::crashed);
      expect_sound(run.path());
      expect_recovery(run);
    }
  }

  static void fail_at_every_call(Fault fault, int error) {
    const int calls = calls_of_the_whole();
    for (int at = 1; at <= calls; ++at) {
      SCOPED_TRACE("failed at call " + std::to_string(at) + " of " + std::to_string(calls));
      const RunFolder run(RunFolder::On::memory);
      GetParam().before(run);
      const bool began_with_old = std::filesystem::exists(run.checkpoints() + "/.old-step-00000010");
      FaultyFiles files(fault, at, error, GetParam().can_exchange);
      bool failed = false;
      try {
        GetParam().act(run.path(), files);
      } catch (const Error& thrown) {
        failed = true;
        EXPECT_EQ(thrown.code(), Exit::data);
        EXPECT_THAT(thrown.what(), HasSubstr(run.path()));
        EXPECT_THAT(thrown.what(), HasSubstr(std::strerror(error)));
      }
      expect_sound(run.path());
      // A failure that passes leaves no temporary folder of its own, and no checkpoint that the
      // caller believes unwritten.
      if (failed && fault == Fault::fail_once && GetParam().is_save) {
        for (const auto& [step, generations] : GetParam().maybe)
          EXPECT_FALSE(std::filesystem::exists(run.step(step)) && newest_valid_checkpoint(run.path())->step == step);
        for (const auto& [step, generations] : GetParam().always)
          for (const CheckpointInfo& info : list_checkpoints(run.path(), true))
            if (info.step == step) EXPECT_EQ(generation_of(info), 1) << "replaced, and yet an error";
        if (std::filesystem::exists(run.checkpoints()))
          for (const std::string& name : run.names())
            EXPECT_FALSE(name.starts_with(".tmp-step-") || (name.starts_with(".old-") && !began_with_old)) << name;
      }
      expect_recovery(run);
    }
  }
};

TEST_P(Faults, the_process_ends_at_any_call) { end_at_every_call(Fault::crash); }
TEST_P(Faults, the_power_goes_at_any_call) { end_at_every_call(Fault::power_loss); }
TEST_P(Faults, any_call_fails_once) { fail_at_every_call(Fault::fail_once, EIO); }
TEST_P(Faults, any_call_and_all_after_it_fail) { fail_at_every_call(Fault::fail_on, ENOSPC); }

TEST_P(Faults, any_write_stops_short) {
  const int calls = calls_of_the_whole();
  for (int at = 1; at <= calls; ++at) {
    const RunFolder run(RunFolder::On::memory);
    GetParam().before(run);
    FaultyFiles files(Fault::stop_short, at, 0, GetParam().can_exchange);
    GetParam().act(run.path(), files);
    expect_sound(run.path());
    for (const auto& [step, generations] : GetParam().maybe) {
      if (GetParam().is_save) EXPECT_EQ(newest_valid_checkpoint(run.path())->step, step);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Faults, ::testing::ValuesIn(scenarios()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trainyard
