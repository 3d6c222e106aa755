// What in a run's folder is the run's (docs/contracts/files.md), and its removal: nothing else is
// touched.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent/run/folder/run_folder.h"

namespace trainyard {

/// Makes `dir` with its missing parents, mode 0700, and marks it as ours; one that is there already
/// is left as it is. Throws file_error.
void make_marked_folder(const std::string& dir);

/// Leaves the mark by which a folder that we made is removed with its run. Throws file_error.
void mark_as_made(const std::string& dir);

/// Whether `path`, relative to the run's folder, names a file of a run.
bool is_run_file(const std::string& path);

/// Whether a path is that of a write which is under way, or was cut short: it ends in .tmp-PID.
bool is_temporary(std::string_view path);

struct Remains {
  std::vector<std::string> names;  ///< relative to the run's folder, sorted; the first 20
  size_t count = 0;                ///< all of them
  bool folder = false;             ///< whether the folder itself is still there
};

enum class Others { stay, go };

/// Removes the run's files and then its empty folders, run.json last. Links are removed, never
/// followed. `others`: whether entries that are not the run's go too, as a program's own checkpoints;
/// only those of a folder that was made for the run. Throws Error naming the path and the reason for
/// the first that cannot be removed.
Remains remove_run_content(const RunFolder& folder, Others others = Others::stay);

/// What it would leave; nothing is removed. `folder`: whether the folder was not made for the run, so
/// that Others::go changes nothing. Throws Error for a folder that cannot be read.
Remains look_at_run_content(const RunFolder& folder);

}  // namespace trainyard
