// The guard: a tiny process beside the supervisor that outlives it only to end what it left behind.
#pragma once
#include "agent/run_folder.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

class Guard {
 public:
  /// Forks the guard. It keeps the supervisor's lock (`lock_fd`) open until it has swept, so that no second supervisor
  /// can start among the remains of the first.
  Guard(const RunFolder& folder, int lock_fd);
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
