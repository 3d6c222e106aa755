// The nodes of a run of several hosts, seen from its head: who has joined, and the ranks that run
// there. What concerns the ranks is in cluster_ranks.cpp, one node in cluster_node.h, the copy
// of the run folder in cluster_mirror.cpp, a shared folder in cluster_share.cpp, the queues for GPUs
// in cluster_queue.h, the rest in cluster.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/cluster/cluster_node.h"
#include "agent/cluster/cluster_queue.h"
#include "agent/cluster/mirror_source.h"
#include "agent/connection/control_channel.h"
#include "agent/connection/join_port.h"
#include "agent/ranks/rank_hosts.h"
#include "agent/run/journal.h"
#include "agent/system/tail.h"

namespace trainyard {

/// How far the nodes are with the folder that they get from the head.
struct ShareState {
  bool done = true;   ///< all of them have it
  bool lost = false;  ///< one that has it not is lost
  std::string why;    ///< "gpu2: …": why one of them cannot get it; empty: all can
  int64_t files = 0, bytes = 0;
};

class Cluster : public RankHosts {
 public:
  /// Listens and writes join.json. Throws Error.
  Cluster(const RunFolder& folder, const RunSpec& spec, Journal& journal);

  /// Everything there is to read, write and notice, for at most a moment; to be called ten times a
  /// second.
  void step();
  /// Reads and writes the nodes' messages, and does nothing else. Returns at `deadline` (monotonic
  /// seconds), or sooner when the descriptor `wakes` is readable. The start of a generation takes
  /// many messages in both directions, which must not wait for the supervisor's next look.
  void serve_until(double deadline, int wakes);
  /// Whether bytes of logs came in the last step: then the next should follow soon.
  bool busy() const { return busy_; }
  /// Whether the nodes' states changed since the last call.
  bool changed() { return std::exchange(changed_, false); }
  Json nodes_json() const;
  /// Null where no node keeps a copy of the run folder.
  Json mirror_json() const;
  /// Nullptr where none does.
  MirrorSource* mirror() const { return mirror_.get(); }

  /// The process of the head's own `agent join`, which belongs to no generation.
  const std::optional<ProcessId>& own_join() const { return own_join_; }

  /// Nodes that are not here now.
  std::vector<std::string> missing() const;
  /// Those that are, in the profile's order.
  std::vector<NodeSpec> present() const;
  /// Of the ranks on this node, once they are known.
  void set_gpus(const std::string& host, const std::vector<int>& gpus);
  bool head_is_here() const { return nodes_.front().is_here(); }
  /// The node of rank 0, where that would be one that does not see the head's run folder.
  std::optional<std::string> blind_leader() const;

  /// Of these nodes the hosts that have ranks and do not see the head's run folder.
  std::vector<std::string> without_disk(const std::vector<NodeSpec>& nodes) const;
  /// Brings the run's shared folder to these hosts, until end_share().
  void begin_share(const std::vector<std::string>& hosts);
  ShareState share_state() const;
  void end_share();

  /// The nodes but the head queue for the GPUs of the run, whose spec must have a queue.
  void enter_queue(const std::string& ticket);
  /// They leave it, and give back what they took.
  void leave_queue();
  /// Nullptr where they are in none.
  ClusterQueue* queue() const { return queue_.get(); }

  /// A generation on these nodes; mpiexec is about to write to `launch_log`.
  /// `spec`: with the nodes and the command of this generation. `control`: to mpiexec; it must last
  /// until another generation begins.
  void begin_generation(int number, const RunSpec& spec, const std::string& launch_log, const ControlChannel& control);
  /// Why the generation cannot go on, once a node of it was lost.
  const std::optional<std::string>& failure() const { return failure_; }
  /// Asks every node to end what is left of the generation, or (`over`) of the run, and then to
  /// leave.
  void settle(bool over);
  bool settled() const;
  /// "process 7 (sleep) on gpu2", for what a node could not end, and nodes that could not say.
  std::vector<std::string> left() const;

  std::string host_of(int rank) const override;
  bool is_gone(const StartedRank& rank) const override;
  void terminate(const RankProcess& rank) override;
  void kill_programs(const std::vector<StartedRank>& ranks) override;
  bool kill_everything() override;
  void let_go(int generation) override;
  Suspects suspects(const std::vector<RankProcess>& late) const override;

 private:
  void start_own_join();
  void admit(std::unique_ptr<Wire> wire);
  bool take_mirror(std::unique_ptr<Wire>& wire);
  void ask_mirror(ClusterNode& node);
  void look_at_mirror();
  bool take_share(std::unique_ptr<Wire>& wire);
  void ask_share(ClusterNode& node);
  void ready_to_queue(ClusterNode& node);
  void serve(ClusterNode& node);
  bool pump(ClusterNode& node);
  void take_control(ClusterNode& node, const Fields& message);
  void pump_control(ClusterNode& node);
  void take(ClusterNode& node, const Json& message);
  void take_ready(ClusterNode& node, const Fields& fields);
  void drop(ClusterNode& node, std::string why);
  void look_for_lost(ClusterNode& node, double now);
  void lose(ClusterNode& node, const std::string& why);
  void read_launches();
  void send_launch(ClusterNode& node);
  Json launch_message(const ClusterNode& node, const std::vector<std::string>& words) const;
  void set_state(ClusterNode& node, ClusterNode::State state);
  ClusterNode* find(const std::string& host);
  const ClusterNode* find(const std::string& host) const;
  const ClusterNode* of_rank(int rank) const;

  RunFolder folder_;
  RunSpec spec_;
  Journal& journal_;
  std::string key_, token_;
  JoinPort port_;
  std::vector<ClusterNode> nodes_;
  std::unique_ptr<MirrorSource> mirror_;
  std::unique_ptr<ClusterQueue> queue_;
  MirrorSource::Status mirrored_;  ///< as it was said last
  std::optional<ProcessId> own_join_;
  double next_own_join_ = 0, next_beat_ = 0, next_kill_ = 0;
  int generation_ = 0;
  std::vector<std::string> argv_;     ///< of this generation
  Json program_;                      ///< of this generation, where it is no trainer: see own_program.h
  std::vector<std::string> members_;  ///< hosts of the generation, as mpiexec numbers them
  std::unique_ptr<Tail> launches_;    ///< until every proxy is named
  const ControlChannel* control_ = nullptr;
  std::optional<std::string> failure_;
  int64_t kill_round_ = 0, settle_round_ = 0;
  bool over_ = false, changed_ = false, busy_ = false;
};

}  // namespace trainyard
