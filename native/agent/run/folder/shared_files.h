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

/// Where this node writes a file of that path until it is whole, on the disk of its place. Nodes
/// that share a disk with one another write files of their own there.
std::string shared_part(const RunFolder& folder, const std::string& share, const std::string& path,
                        const std::string& host);

/// Removes what this node, killed in the middle of a file, left of it.
void remove_shared_parts(const RunFolder& folder, const std::string& share, const std::string& host);

/// The files here, and the links to other files of them. Throws Error as list_mirrored does.
std::vector<MirroredFile> list_shared(const RunFolder& folder, const std::string& share);

/// What the head has sent to this node (share.json). Files that the program wrote here itself are
/// not in it, and stay.
class SharedRecord {
 public:
  explicit SharedRecord(const RunFolder& folder);
  void add(const std::string& path, uint64_t size, int64_t time) { files_[path] = {size, time}; }
  void remove(const std::string& path) { files_.erase(path); }
  /// Throws Error.
  void write() const;
  /// Those that are still as they came.
  std::vector<MirroredFile> unchanged() const;
  /// Whether this one of them is still as it came.
  bool is_unchanged(const std::string& path) const;
  /// Whether one of them is below this folder.
  bool has_below(const std::string& folder) const;

 private:
  struct File {
    uint64_t size = 0;
    int64_t time = 0;  ///< nanoseconds since the epoch; 0: a link
  };
  RunFolder folder_;
  std::map<std::string, File> files_;
};

}  // namespace trainyard
