// The folder that the nodes get from the head before a generation starts.
#include <algorithm>

#include "agent/cluster/cluster.h"
#include "agent/run/folder/shared_files.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kStuckSeconds = 600;  // a large file may take minutes to be on a slow disk

}  // namespace

std::vector<std::string> Cluster::without_disk(const std::vector<NodeSpec>& nodes) const {
  std::vector<std::string> hosts;
  for (const NodeSpec& one : nodes) {
    const ClusterNode* node = find(one.host);
    const bool is_other = node != nullptr && node != &nodes_.front() && !node->shared;
    if (is_other && one.has_ranks()) hosts.push_back(one.host);
  }
  return hosts;
}

void Cluster::begin_share(const std::vector<std::string>& hosts) {
  for (ClusterNode& node : nodes_) {
    if (std::ranges::find(hosts, node.spec.host) == hosts.end()) continue;
    node.share = std::make_unique<ShareSource>(folder_, spec_.share);
    ask_share(node);
  }
}

void Cluster::end_share() {
  for (ClusterNode& node : nodes_) {
    if (node.share) node.share->give_up();
  }
  for (ClusterNode& node : nodes_) node.share.reset();
}

ShareState Cluster::share_state() const {
  ShareState state;
  for (const ClusterNode& node : nodes_) {
    if (!node.share) continue;
    const ShareSource::Status status = node.share->status();
    state.files += status.files;
    state.bytes += status.bytes;
    if (!status.done && node.state == ClusterNode::State::lost) state.lost = true;
    if (!status.done) state.done = false;
    std::string why = status.why;
    const bool is_stuck = !status.done && monotonic_seconds() - status.moved > kStuckSeconds;
    if (why.empty() && is_stuck) why = "its disk, or the way to it, has taken nothing for 10 min";
    if (!why.empty() && state.why.empty()) state.why = node.spec.host + ": " + why;
  }
  return state;
}

/// A connection that nobody asked for gets `bye`. Without that message the node would connect again
/// and again.
bool Cluster::take_share(std::unique_ptr<Wire>& wire) {
  for (ClusterNode& node : nodes_) {
    if (wire->host() != share_greeting(node.spec.host)) continue;
    if (node.share) {
      node.share->take(std::move(wire));
    } else {
      wire->send({{"kind", "bye"}});
      wire->pump();
    }
    return true;
  }
  return false;
}

void Cluster::ask_share(ClusterNode& node) {
  if (node.share && node.is_here()) node.wire->send({{"kind", "share"}, {"folder", spec_.share}});
}

}  // namespace trainyard
