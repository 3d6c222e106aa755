// `agent join`: this node's part in a run of several hosts.
#pragma once
#include <optional>
#include <string>

#include "agent/gpus/gpu_locks.h"
#include "agent/run/folder/run_folder.h"
#include "agent/run/run_state.h"

namespace trainyard {

/// Joins the run at its head and does what that says until the run is over. Returns 0 then, 1 when
/// the head was not seen for an hour, refuses connections for 20 s, or the folder was deleted.
/// `gpus` are held until then.
int join_run(const std::string& run_dir, const std::string& host, GpuLocks gpus);

/// What a node's `agent join` last said of itself.
struct JoinRecord {
  ProcessId process;
  std::string state;  ///< connecting, joined, alone (its ranks were ended, since the head is gone), over
  std::string why;    ///< the last connection's end, for people
  bool lives = false;
};
std::optional<JoinRecord> read_join_record(const RunFolder& folder, const std::string& host);

}  // namespace trainyard
