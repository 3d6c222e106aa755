// run.start: a run folder with its run.json, and a supervisor that outlives whoever asked.
#pragma once
#include <memory>

#include "agent/rpc/rpc.h"

namespace trainyard {

/// Checks the spec, makes or takes over the folder and starts the supervisor; the job answers {id,
/// dir} once that holds its lock. Throws RpcError or FieldError.
std::unique_ptr<Job> start_run(const std::string& workdir, const Json& spec);

}  // namespace trainyard
