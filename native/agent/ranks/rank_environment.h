// What every rank of a run finds in its environment, on whichever node it runs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/run/folder/run_folder.h"
#include "agent/system/spawn.h"

namespace trainyard {

/// Of a trainer that a supervisor starts again by itself: it goes on from the run's newest valid
/// checkpoint, whatever --resume said of the first start.
inline constexpr const char* kRestartVariable = "TRAINYARD_RESTART";

/// `given` is the profile's; where it says itself what CUDA sees, `gpus` (of this node) are left
/// out.
Environment rank_environment(const RunFolder& folder, int generation, int threads,
                             const std::map<std::string, std::string>& given, const std::vector<int>& gpus);

}  // namespace trainyard
