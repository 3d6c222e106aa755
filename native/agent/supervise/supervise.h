// `agent supervise`: becomes the one supervisor of a run folder.
#pragma once
#include <string>

#include "agent/gpus/gpu_locks.h"

namespace trainyard {

/// Takes the folder's lock and runs the run in it. Throws Error(Exit::usage) when another
/// supervisor holds the lock or the run.json cannot be understood (the state then says so too).
/// Returns the run's exit code. `gpus` are held until the run is over.
int supervise(const std::string& run_dir, GpuLocks gpus);

}  // namespace trainyard
