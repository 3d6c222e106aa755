// Who a process on a GPU is. The system may make wait whoever asks, as the driver does: only the
// process of figures_process.h asks.
#pragma once
#include "agent/messages/json.h"

namespace trainyard {

/// {pid, user, command, run}: each null where it cannot be told (docs/contracts/gpus.md).
Json gpu_process(int pid);

/// A sample's GPUs without the commands of the processes, which a file with a line a second leaves
/// out.
Json without_commands(Json sample);

}  // namespace trainyard
