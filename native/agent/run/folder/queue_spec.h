// The part of run.json that says what a run waits for before it begins
// (docs/contracts/gpus.md, A run that waits by itself).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "agent/messages/json.h"

namespace trainyard {

/// The GPUs of one node that count, in the order in which the run takes them.
struct NodeQueue {
  std::string host;
  std::vector<int> gpus;
};

struct QueueSpec {
  std::string by;                ///< whose start it is, for people
  std::vector<NodeQueue> nodes;  ///< that take GPUs; empty: the run takes none
  /// Runs of this name share so many slots, and begin in the order of their places. Empty: none.
  std::string group;
  int slots = 0;
  int64_t place = 0;
};

/// Throws FieldError.
QueueSpec parse_queue(const Fields& queue);

}  // namespace trainyard
