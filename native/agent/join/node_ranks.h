// The ranks of a run that run on this node, and the proxy of mpiexec that starts them.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/connection/relayed_stream.h"
#include "agent/messages/json.h"
#include "agent/ranks/rank_hosts.h"
#include "agent/run/folder/run_folder.h"
#include "agent/system/spawn.h"

namespace trainyard {

/// What this node's join.json says.
struct JoinSpec {
  std::string host;
  std::string address;
  int port = 0;
  std::string key;
  std::string trainer, proxy;  ///< this node's own paths
};

/// Throws FieldError or Error.
JoinSpec read_join_spec(const RunFolder& folder, const std::string& host);

class NodeRanks {
 public:
  NodeRanks(const RunFolder& folder, JoinSpec spec) : folder_(folder), spec_(std::move(spec)) {}

  /// Starts the proxy of a generation from what the head sent. Throws FieldError or Error.
  void begin(const Json& message);
  int generation() const { return generation_; }
  /// Whether they are our trainer's.
  bool is_training() const { return is_training_; }
  /// What the proxy and mpiexec say to one another.
  RelayedStream& control() { return control_; }
  int first() const { return first_; }
  int count() const { return static_cast<int>(ranks_.size()); }

  /// One SIGTERM to each of these ranks, once; those that have not started yet get it when they do.
  void terminate(const std::vector<int>& ranks);
  void kill_programs(const std::vector<int>& ranks) const;
  /// One round of SIGKILL for the proxy, the ranks and all they started, in whatever session; what
  /// was found.
  std::vector<NamedProcess> kill_everything(const std::set<int>& spared) const;

  /// Reads the records of ranks that have started; to be called often.
  void look();
  /// Ranks that vanished without an exit record, each told once.
  std::vector<int> newly_gone();
  void forget_told_gone();
  /// Whether every rank of this node has written how it ended.
  bool all_ended() const;
  /// Programs that have started, as far as they are known.
  std::vector<RankProcess> programs() const;

 private:
  struct Rank {
    std::optional<StartedRank> started;
    bool asked = false, terminated = false, told_gone = false;
  };
  Rank* find(int rank);
  bool has_ended(int rank) const;
  Environment environment(const Json& message) const;

  RunFolder folder_;
  JoinSpec spec_;
  int generation_ = 0, first_ = 0;
  bool is_training_ = false;
  std::vector<Rank> ranks_;
  std::optional<ProcessId> proxy_;
  RelayedStream control_;
};

/// "NAME=VALUE": what marks the proxy and the ranks of this node of a run, and nothing else.
std::string node_mark(const RunFolder& folder, const std::string& host);

}  // namespace trainyard
