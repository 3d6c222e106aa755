// Finding and ending the processes of a run, and only those: by pid and start time, by the run's
// folder in their environment, and by descent.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/process.h"

namespace trainyard {

struct NamedProcess {
  ProcessId process;
  std::string what;  ///< for people: its name, or its part in the run
};

/// The variable that marks every process of a run.
inline constexpr const char* kRunVariable = "TRAINYARD_RUN_DIR";
/// What a person's terminal in a run's folder has beside it: neither it nor what is started there
/// is the run's.
inline constexpr const char* kTerminalEntry = "TRAINYARD_TERMINAL=1";

/// So long a process that had SIGKILL is waited for. One within a call of a hung driver or disk does
/// not end.
inline constexpr double kUnkillableSeconds = 60;

/// Sends `signal` to that very process; false when it is gone or may not be signalled.
bool signal_process(const ProcessId& process, int signal);

/// Own live processes started with TRAINYARD_RUN_DIR=`run_dir`, whatever session or process group
/// they moved to; without those in `spared`, without those of terminals, and without this process.
std::vector<NamedProcess> find_marked(const std::string& run_dir, const std::set<int>& spared);
/// As find_marked. `spared` is asked after the look, so that a process which a spared one starts
/// meanwhile is spared too.
std::vector<NamedProcess> find_marked_except(const std::string& run_dir, const std::function<std::set<int>()>& spared);

/// The same of every run whose folder lies directly in `runs`, by that folder.
std::map<std::string, std::vector<NamedProcess>> find_all_marked(const std::string& runs);

/// Own live processes whose environment holds exactly `entry` (NAME=VALUE); otherwise as
/// find_marked.
std::vector<NamedProcess> find_by_environment(const std::string& entry, const std::set<int>& spared);

/// Live descendants of `ancestor` (not itself), without those in `spared` and without their
/// descendants.
std::vector<NamedProcess> find_descendants(int ancestor, const std::set<int>& spared);

/// Ends processes by SIGKILL, again and again until none is found, since one may start another
/// meanwhile.
class Sweep {
 public:
  using Finder = std::function<std::vector<NamedProcess>()>;
  explicit Sweep(Finder finder) : finder_(std::move(finder)) {}

  /// One round. True when two rounds in a row found nothing.
  bool step();
  /// Rounds until nothing is left or `seconds` have passed; true when nothing is left.
  bool run(double seconds);

  const std::vector<NamedProcess>& killed() const { return killed_; }
  const std::vector<NamedProcess>& left() const { return left_; }

 private:
  Finder finder_;
  int empty_rounds_ = 0;
  std::vector<NamedProcess> killed_;  ///< once signalled
  std::vector<NamedProcess> left_;    ///< found in the last round
};

}  // namespace trainyard
