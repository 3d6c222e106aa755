// What a generation asks of the ranks on the nodes of a run of several hosts.
#include <algorithm>

#include "agent/cluster/cluster.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kKillSeconds = 0.2;  // between two rounds
constexpr double kActivityIsOld = 5;  // told each second

}  // namespace

const ClusterNode* Cluster::of_rank(int rank) const {
  for (const ClusterNode& node : nodes_) {
    if (node.holds(rank)) return &node;
  }
  return nullptr;
}

std::string Cluster::host_of(int rank) const {
  const ClusterNode* node = of_rank(rank);
  return node == nullptr ? nodes_.front().spec.host : node->spec.host;
}

bool Cluster::is_gone(const StartedRank& rank) const {
  const ClusterNode* node = of_rank(rank.program.rank);
  return node == nullptr || node->state == ClusterNode::State::lost || node->gone.contains(rank.program.rank);
}

void Cluster::terminate(const RankProcess& rank) {
  for (ClusterNode& node : nodes_) {
    if (!node.holds(rank.rank)) continue;
    node.terminated.insert(rank.rank);
    if (node.is_here()) node.wire->send({{"kind", "terminate"}, {"ranks", {rank.rank}}});
  }
}

void Cluster::kill_programs(const std::vector<StartedRank>& ranks) {
  const double now = monotonic_seconds();
  if (now < next_kill_) return;
  next_kill_ = now + kKillSeconds;
  for (ClusterNode& node : nodes_) {
    Json numbers = Json::array();
    for (const StartedRank& rank : ranks) {
      if (node.holds(rank.program.rank)) numbers.push_back(rank.program.rank);
    }
    if (node.is_here() && !numbers.empty()) node.wire->send({{"kind", "kill_programs"}, {"ranks", numbers}});
  }
}

bool Cluster::kill_everything() {
  const double now = monotonic_seconds();
  if (now >= next_kill_) {
    next_kill_ = now + kKillSeconds;
    ++kill_round_;
    for (ClusterNode& node : nodes_) {
      if (node.is_here() && node.count > 0) node.wire->send({{"kind", "kill"}, {"round", kill_round_}});
    }
  }
  // A node that is not here ends its own ranks; its records come when it is back, or it is lost.
  return std::all_of(nodes_.begin(), nodes_.end(), [](const ClusterNode& node) {
    return node.count == 0 || node.state == ClusterNode::State::lost || node.clean_round > 0;
  });
}

void Cluster::let_go(int generation) {
  for (ClusterNode& node : nodes_) {
    if (node.is_here() && node.count > 0) node.wire->send({{"kind", "let_go"}, {"generation", generation}});
  }
}

Suspects Cluster::suspects(const std::vector<RankProcess>& late) const {
  std::vector<Activity> told;
  for (const RankProcess& rank : late) {
    const ClusterNode* node = of_rank(rank.rank);
    if (node == nullptr || monotonic_seconds() - node->activity_told > kActivityIsOld) continue;
    for (const Activity& one : node->activity) {
      if (one.rank == rank.rank) told.push_back(one);
    }
  }
  return judge(told);
}

}  // namespace trainyard
