// The queues for GPUs of the nodes other than the head, in which a run waits before it begins. Its
// tickets have one number on all nodes, so all nodes have the same order of starts. That is why a
// node may hold the GPUs that it took while other nodes still wait: no two starts wait for each
// other, unless somebody outside of the queue takes a GPU of one of them. For the same reason
// nothing is taken before every node has the number, and a ticket stays in its queue until all
// nodes have taken. A node whose ticket was gone in between may have let somebody pass; then the
// whole run queues anew, behind all who wait.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/cluster/cluster_node.h"
#include "agent/messages/json.h"
#include "agent/run/folder/queue_spec.h"

namespace trainyard {

class ClusterQueue {
 public:
  /// `nodes`: all of the run, the head first. `ticket`: the id of its tickets.
  ClusterQueue(const QueueSpec& queue, const std::vector<ClusterNode>& nodes, const std::string& ticket);

  /// The highest number that a node gave, once all have answered; 0 where no other node takes GPUs.
  std::optional<int64_t> highest() const;
  /// All tickets get this number.
  void raise(int64_t number);
  bool is_raised() const;
  /// The nodes may take their GPUs now.
  void take();
  /// The GPUs that the nodes have taken, by host, once all have. In the order of their tickets.
  std::optional<std::map<std::string, std::vector<int>>> taken() const;
  /// The run begins: the tickets end, and the locks stay.
  void begin();
  /// Whether a node has lost its ticket, or the head has lost the node.
  bool is_broken() const { return broken_; }
  void lost() { broken_ = broken_ || stage_ != Stage::begun; }
  /// What each node waits for, in words.
  std::vector<std::string> texts() const;

  /// Tells the nodes that are here what they were not told yet.
  void step(std::vector<ClusterNode>& nodes);
  /// This node has (again) a connection.
  void ready(const ClusterNode& node);
  /// Whether the message is one of a queue. Throws FieldError.
  bool answered(const ClusterNode& node, const std::string& kind, const Json& message);

 private:
  enum class Stage { enter, raise, take, begun };
  struct Place {
    Json ticket;                ///< the message that asks for one, without a number
    int pid = 0;                ///< of the `agent join` that was asked
    std::optional<Stage> told;  ///< by this connection
    std::optional<int64_t> number;
    std::string text;
    std::vector<int> taken;
  };
  void tell(const ClusterNode& node, Place& place) const;
  Json ticket_message(const Place& place) const;

  const std::string ticket_;
  std::map<std::string, Place> places_;  ///< by host
  Stage stage_ = Stage::enter;
  int64_t number_ = 0;
  bool broken_ = false;
};

}  // namespace trainyard
