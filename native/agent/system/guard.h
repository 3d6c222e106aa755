// The guard: a tiny process beside the supervisor, or a node's `agent join`, that outlives it only
// to end what it left behind.
#pragma once
#include <functional>
#include <vector>

#include "agent/system/kill.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

class Guard {
 public:
  /// Forks the guard. It keeps the lock of the process it stands beside (`lock_fd`) open until it
  /// has swept, so that no second one can start among the remains of the first. The same holds of
  /// `more_locks`. `find`: what it then ends.
  Guard(const std::function<std::vector<NamedProcess>()>& find, int lock_fd, std::vector<int> more_locks);
  /// Sends it away: the supervisor has left nothing behind.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  const ProcessId& process() const { return process_; }

 private:
  Descriptor pipe_;
  ProcessId process_;
};

}  // namespace trainyard
