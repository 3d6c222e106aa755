// The copy of a run folder becomes the run's folder, once the head that it was copied from is gone.
#pragma once
#include <string>

#include "agent/run/folder/run_folder.h"

namespace trainyard {

/// Moves the mirror's files to their places in `folder`, run.json last: until then the folder is no
/// run, and the same call goes on where an earlier one was cut short. The journal gets
/// `head_changed` to `host`. A run that the folder held itself, from the time when this node was
/// the head, goes to former/<time>. Throws Error, also where there is no copy that was ever whole.
void adopt_mirror(const RunFolder& folder, const std::string& host);

}  // namespace trainyard
