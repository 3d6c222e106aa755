// `agent supervise`: becomes the one supervisor of a run folder.
#pragma once
#include <string>

namespace trainyard {

/// Takes the folder's lock and runs the run in it. Throws Error(Exit::usage) when another
/// supervisor holds the lock or the run.json cannot be understood (the state then says so too).
/// Returns the run's exit code.
int supervise(const std::string& run_dir);

}  // namespace trainyard
