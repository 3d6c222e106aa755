// What a generation needs of the places its ranks run in: this machine, or the nodes of a run of
// several hosts.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/ranks/debugged.h"
#include "agent/ranks/hang.h"
#include "agent/run/folder/run_folder.h"
#include "agent/run/run_state.h"

namespace trainyard {

/// A rank that has started: its program and the process that writes how it ended.
struct StartedRank {
  RankProcess program;
  ProcessId wrapper;
  std::optional<DebugPlace> debug = std::nullopt;  ///< where the rank waits for a debugger
};

class RankHosts {
 public:
  RankHosts() = default;
  virtual ~RankHosts() = default;
  RankHosts(const RankHosts&) = delete;
  RankHosts& operator=(const RankHosts&) = delete;

  /// Where a rank runs, or would have run.
  virtual std::string host_of(int rank) const = 0;
  /// Neither the program nor its wrapper is alive.
  virtual bool is_gone(const StartedRank& rank) const = 0;
  /// One SIGTERM to the program.
  virtual void terminate(const RankProcess& rank) = 0;
  /// One round of SIGKILL for the programs of these ranks and what they started, while their
  /// wrappers live.
  virtual void kill_programs(const std::vector<StartedRank>& ranks) = 0;
  /// One round of SIGKILL for everything of the generation. True when nothing was left of it.
  virtual bool kill_everything() = 0;
  /// Every program of the generation has ended: what stands between them and mpiexec may end, and
  /// mpiexec with it.
  virtual void let_go(int generation) = 0;
  virtual Suspects suspects(const std::vector<RankProcess>& late) const = 0;
};

/// This machine, for runs whose ranks mpiexec itself starts.
class LocalRanks : public RankHosts {
 public:
  /// `spared()` names processes that ending a generation must not touch (evaluator, TensorBoard,
  /// guard).
  LocalRanks(std::string run_dir, std::function<std::set<int>()> spared)
      : run_dir_(std::move(run_dir)), spared_(std::move(spared)) {}

  std::string host_of(int rank) const override;
  bool is_gone(const StartedRank& rank) const override;
  void terminate(const RankProcess& rank) override;
  void kill_programs(const std::vector<StartedRank>& ranks) override;
  bool kill_everything() override;
  void let_go(int generation) override;
  Suspects suspects(const std::vector<RankProcess>& late) const override { return find_suspects(late); }

 private:
  std::string run_dir_;
  std::function<std::set<int>()> spared_;
};

/// Tells this machine's ranks, by a file, that all have ended.
void say_all_ended(const RunFolder& folder, int generation);

/// Makes the file that says to rank 0 of a training that other ranks are lost or hang
/// (common/given_up.h).
void say_given_up(const RunFolder& folder, int generation);

/// Of what `agent rank` writes when its program has started.
StartedRank parse_start_record(const Json& json, int rank);

/// The living programs of these ranks with their descendants, as far as their wrappers live.
std::vector<NamedProcess> find_programs(const std::vector<StartedRank>& ranks);

}  // namespace trainyard
