// A run as run.list and run.get tell of it (docs/contracts/rpc.md).
#pragma once
#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

/// {id, dir, run, state, about, interrupted, elsewhere}
Json describe_run(const RunFolder& folder);

}  // namespace trainyard
