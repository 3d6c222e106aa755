// What every rank of a run finds in its environment, on whichever node it runs.
#pragma once
#include <map>
#include <string>

#include "agent/run_folder.h"
#include "agent/spawn.h"

namespace trainyard {

Environment rank_environment(const RunFolder& folder, int generation, int threads,
                             const std::map<std::string, std::string>& given);

}  // namespace trainyard
