// One node of a run as the head knows it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/cluster/head_copy.h"
#include "agent/cluster/share_source.h"
#include "agent/connection/relayed_stream.h"
#include "agent/connection/wire.h"
#include "agent/ranks/hang.h"
#include "agent/run/folder/run_spec.h"

namespace trainyard {

struct ClusterNode {
  enum class State { waiting, joined, lost };

  ClusterNode(const RunFolder& folder, const NodeSpec& node) : spec(node), copy(folder, node.host) {}

  NodeSpec spec;
  HeadCopy copy;
  State state = State::waiting;
  double since = 0;                    ///< seconds since the epoch
  std::unique_ptr<Wire> wire;          ///< authenticated, or none
  bool ready = false;                  ///< it has answered the welcome of this connection
  double disconnected = 0;             ///< monotonic seconds; 0: connected
  std::unique_ptr<ShareSource> share;  ///< while it gets the shared folder
  std::string why;                     ///< the last connection's end
  bool shared = false;
  int pid = 0;  ///< of its `agent join`

  // Of the generation that it takes part in.
  int first = 0, count = 0;    ///< its ranks; count 0: it has none
  std::optional<Json> launch;  ///< the message that starts its proxy, once mpiexec has named that
  int launched_by = 0;         ///< pid of the `agent join` that got it
  RelayedStream control;       ///< between mpiexec and its proxy there
  std::set<int> terminated, gone;
  std::vector<Activity> activity;  ///< of its ranks, as it told last
  double activity_told = 0;        ///< monotonic seconds
  int64_t clean_round = 0;         ///< newest round of `kill` after which nothing was left
  std::optional<int64_t> settled;  ///< the newest `settle` it has answered
  Json left = Json::array();       ///< what it could not end

  int leaving = 0;  ///< the process of the node that has said that it goes away; 0: none

  bool is_here() const { return wire && ready; }
  /// It takes part in a generation with these ranks, or with none.
  void begin(int number, int first_rank, int ranks) {
    first = first_rank;
    count = ranks;
    copy.set_ranks(number, first, count);
    launch.reset();
    launched_by = 0;
    control = RelayedStream(number);
    terminated.clear();
    gone.clear();
    activity.clear();
    settled.reset();
    clean_round = 0;
  }
  /// Whether it is here, and can have ranks of the next generation.
  bool stays() const { return is_here() && leaving != pid; }
  bool holds(int rank) const { return rank >= first && rank < first + count; }
};

const char* state_name(ClusterNode::State state);

}  // namespace trainyard
