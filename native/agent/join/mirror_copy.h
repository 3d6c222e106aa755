// The node's side of the mirror: keeps a copy of the head's run folder beside what the node itself
// has of the run.
#pragma once
#include <memory>

#include "agent/join/file_copy.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

std::unique_ptr<FileCopyThread> start_mirror_copy(const RunFolder& folder, const JoinSpec& spec);

}  // namespace trainyard
