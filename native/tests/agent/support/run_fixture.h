// Runs of real processes in a folder of the test's own; after each test none of them may be left.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/system/kill.h"
#include "tests/agent/support/client.h"

namespace trainyard::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Waits until `condition` holds, 20 s at most unless told otherwise.
bool eventually(const std::function<bool()>& condition, double seconds = 20);

void write_file(const std::string& path, const std::string& text);

class RunTest : public testing::Test {
 protected:
  RunTest() : client_(std::make_unique<Client>()) {}
  /// Counts the living processes of every run that the test started: there must be none.
  void TearDown() override;

  /// A spec that runs `script` by /bin/sh on each of `ranks` ranks.
  static Json command_spec(const std::string& script, int ranks = 2);
  /// A spec whose trainer is a script with `train` and `eval` as its first argument's cases.
  Json trainer_spec(const std::string& train, const std::string& eval, int ranks = 2);

  /// Starts a run and returns its folder.
  std::string start(const Json& spec);
  Json state(const std::string& dir) const;
  /// Waits until the run has ended; its last state.
  Json ended(const std::string& dir, double seconds = 25);
  bool wait_for_phase(const std::string& dir, const std::string& phase);
  /// All events of a kind, or all when it is empty.
  static std::vector<Json> events(const std::string& dir, const std::string& kind = "");
  static std::string text(const std::string& path);
  static std::vector<NamedProcess> processes(const std::string& dir) { return find_marked(dir, {}); }

  TemporaryFolder folder_;
  std::unique_ptr<Client> client_;

 private:
  std::vector<std::string> dirs_;
};

}  // namespace trainyard::test
