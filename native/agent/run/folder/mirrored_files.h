// Which files of a run's folder its mirror keeps a copy of, and in which order they are copied
// (docs/contracts/cluster.md, The mirror of a run folder).
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/run/folder/run_folder.h"

namespace trainyard {

struct MirroredFile {
  std::string path;       ///< relative to the run folder
  uint64_t size = 0;      ///< bytes
  int64_t time = 0;       ///< of the last write, nanoseconds since the epoch
  uint64_t inode = 0;     ///< of this machine's disk
  bool grows = false;     ///< only its end is ever written, as of a log
  bool is_done = true;    ///< false: it may be in the middle of being written
  bool runs = false;      ///< its owner may execute it
  std::string link = {};  ///< of a symbolic link, what it leads to; empty: a file
};

/// Where the node that is the mirror keeps its copy, and what that copy is of.
inline std::string mirror_folder(const RunFolder& folder) { return folder.file("mirror"); }
inline std::string mirror_note(const RunFolder& folder) { return folder.file("mirror.json"); }
/// A file that has not come whole yet.
inline std::string mirror_part(const RunFolder& folder) { return folder.file("mirror.part"); }
/// The name by which the mirror's connection for files greets the head: no host can have it.
inline std::string mirror_greeting(const std::string& host) { return host + "+mirror"; }

/// Of a file's last write, nanoseconds since the epoch.
int64_t time_written(const struct stat& info);

/// Whether a path, relative to a run folder, is one that is copied: below the folder, and not about
/// one machine alone, as pids, locks and keys are.
bool is_mirrored(std::string_view path);

/// The files below `dir` in the order in which they are copied: checkpoints come last, the newest
/// one first and each with its manifest behind the rest of it. Left out are links to
/// anything else, and the user's code as it came, which every node of the run has
/// (docs/contracts/code.md). Throws Error where a part of the folder cannot be looked at, and where
/// there are more than 20,000 files.
std::vector<MirroredFile> list_mirrored(const std::string& dir);

/// The files and links of which `accepts` takes the path, below a folder of `dir` ("out/"), in no
/// order. Throws Error as list_mirrored does.
std::vector<MirroredFile> list_files_below(const std::string& dir, const std::string& below,
                                           const std::function<bool(const std::string& path)>& accepts);

/// Whether a folder of that name, of the run folder, is about this machine alone.
bool is_local_folder(std::string_view name);

/// Whether a link leads to a file or folder that is below the same folder and that `accepts` takes,
/// without a way through other links.
bool leads_to(const MirroredFile& link, const std::function<bool(const std::string& path)>& accepts);

/// Whether a path leads below the folder that it is relative to, and is no stranger to any file
/// system: no empty part, no `.` or `..`, 1024 bytes at most.
bool has_safe_parts(std::string_view path);

/// Removes the folders of `path`, relative to `dir`, that are empty: folders go with their last
/// file.
void remove_empty_parents(const std::string& dir, const std::string& path);

/// step-00000120, of whose files `path` is one; empty for another path.
std::string mirrored_checkpoint(std::string_view path);
/// The host that run.json of a folder names as the run's head; empty: none.
std::string head_of_run(const RunFolder& folder);
/// Whether `path` is the file without which a checkpoint is none.
bool is_manifest(std::string_view path);

}  // namespace trainyard
