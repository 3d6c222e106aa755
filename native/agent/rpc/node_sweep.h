// What a node that is not the head has of a run, and its end.
#pragma once
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"

namespace trainyard {

struct RunOnNode {
  RunFolder folder;
  std::string host;  ///< the profile's name of this node
};

/// From the parameters `workdir`, `id` and `host`. Throws FieldError.
RunOnNode run_on_node(const Fields& params);

/// Ends what this node still has of a run, its `agent join` first.
class NodeSweep {
 public:
  explicit NodeSweep(const RunOnNode& run) : run_(run), sweep_([this] { return find(); }) {}
  NodeSweep(const NodeSweep&) = delete;
  NodeSweep& operator=(const NodeSweep&) = delete;

  /// True once nothing is left. Throws RpcError where something stays for 15 s.
  bool step();

 private:
  std::vector<NamedProcess> find() const;

  RunOnNode run_;
  Sweep sweep_;
  double begun_ = monotonic_seconds();
};

}  // namespace trainyard
