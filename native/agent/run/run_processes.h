// The processes of a run: those that its state.json names, and those that its folder marks.
#pragma once
#include <set>
#include <vector>

#include "agent/run/folder/run_folder.h"
#include "agent/system/kill.h"

namespace trainyard {

/// Everything of a run that stands in its state.json or in its processes' environment, but not
/// `spared`.
std::vector<NamedProcess> find_run(const RunFolder& folder, const std::set<int>& spared);

}  // namespace trainyard
