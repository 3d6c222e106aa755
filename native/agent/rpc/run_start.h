// run.start: a run folder with its run.json, and a supervisor that outlives whoever asked.
#pragma once
#include <memory>

#include "agent/gpus/gpu_locks.h"
#include "agent/rpc/rpc.h"

namespace trainyard {

/// Checks the spec, makes or takes over the folder and starts the supervisor; the job answers {id,
/// dir} once that holds its lock. The supervisor gets `gpus`; where it does not start, they are free. Throws
/// RpcError or FieldError.
std::unique_ptr<Job> start_run(const std::string& workdir, const Json& spec, GpuLocks gpus);

}  // namespace trainyard
