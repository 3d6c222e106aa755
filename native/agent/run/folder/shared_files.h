// The folder of an own program that every node gets from the head before the program starts
// (`share` of run.json; docs/contracts/cluster.md, A shared folder).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/run/folder/mirrored_files.h"

namespace trainyard {

/// The name by which a node's connection for these files greets the head: no host can have it.
inline std::string share_greeting(const std::string& host) { return host + "+share"; }

/// Why a run folder cannot share such a folder of its own; empty: it can.
std::string why_not_shared(const std::string& share);

/// Whether a path, relative to the run folder, is of a file that is shared: below `share` itself,
/// or below the folder of that name in the user's code.
bool is_shared(const std::string& share, const std::string& path);

/// Where a file of that path is written until it is whole, on the disk of its place. `name` begins
/// with the host: nodes that share a disk with one another write there too.
std::string shared_part(const RunFolder& folder, const std::string& share, const std::string& path,
                        const std::string& name);

/// Removes what this host, killed in the middle of a file, left of it. Throws Error.
void remove_shared_parts(const RunFolder& folder, const std::string& share, const std::string& host);

/// Where this node was the head of the run, and has got nothing from another head since: moves what
/// it has of the folder to former/<time>. A program would take a checkpoint there for the newest
/// that no other node has. Throws Error.
void keep_former_share(const RunFolder& folder, const std::string& share);

/// Throws Error where a folder of `path`, below the shared one, is a link: it may lead elsewhere.
void refuse_linked_folders(const RunFolder& folder, const std::string& share, const std::string& path);

/// The files here in the order of their paths, with links to one another. Throws Error as
/// list_mirrored does.
std::vector<MirroredFile> list_shared(const RunFolder& folder, const std::string& share);

/// What the head has sent to this node (share.json). Files that the program wrote here itself are
/// not in it, and stay.
class SharedRecord {
 public:
  explicit SharedRecord(const RunFolder& folder);
  /// A file that is in its place now. `time`: of the head's, nanoseconds since the epoch.
  void add(const std::string& path, int64_t time);
  void add_link(const std::string& path, const std::string& target) { files_[path] = {0, 0, 0, target}; }
  void remove(const std::string& path) { files_.erase(path); }
  /// Throws Error.
  void write() const;
  /// Those that are still as they came, with the times of the head.
  std::vector<MirroredFile> unchanged() const;
  /// Whether this one of them is still as it came.
  bool is_unchanged(const std::string& path) const;
  /// Whether one of them is below this folder.
  bool has_below(const std::string& folder) const;

 private:
  struct File {
    uint64_t size = 0;
    int64_t time = 0;    ///< of the head's, nanoseconds since the epoch
    int64_t here = 0;    ///< the same as this disk keeps it
    std::string link{};  ///< of a link, what it leads to
  };
  RunFolder folder_;
  std::map<std::string, File> files_;
};

}  // namespace trainyard
