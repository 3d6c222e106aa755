// The state of one checkpoint's folder.
#pragma once
#include <cstdint>
#include <string>

#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {

/// What FOLDER holds, which ought to be the checkpoint of `step`: valid or the reason why not.
CheckpointInfo inspect_checkpoint(const std::string& folder, int64_t step, bool verify);

}  // namespace trainyard
