// Whether somebody supervises a run, also on another host that sees the same disk; and holding a
// run's folder against that (docs/contracts/files.md, Who supervises a run).
#pragma once
#include <optional>
#include <string>

#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"
#include "common/files.h"

namespace trainyard {

inline constexpr double kLeaseRefreshSeconds = 5;  ///< a supervisor writes state.json at least this often
inline constexpr double kLeaseSeconds = 30;        ///< one that has not written for so long is gone

/// `own`: a disk that only this machine's kernel can write to, where a lock that can be had proves
/// that nobody holds it. `shared`: any other.
enum class Disk { own, shared };
Disk disk_of(const std::string& path);

struct Supervision {
  enum class Kind {
    over,       ///< the run has ended
    here,       ///< its supervisor lives on this machine
    elsewhere,  ///< its state was written by another machine, or another boot of this one, within kLeaseSeconds
    nobody      ///< the run has not ended, and nobody is there to end it
  } kind = Kind::nobody;
  std::string host;  ///< the supervisor's, as the state names it

  bool is_active() const { return kind == Kind::here || kind == Kind::elsewhere; }
};

Supervision supervision(const RunFolder& folder, const std::optional<Json>& state, Disk disk);
Supervision supervision(const RunFolder& folder);

/// "a run in DIR is under way on gpu1, supervised by process 7. Attach to it, or stop it first"
std::string under_way(const RunFolder& folder, const std::optional<Json>& state);

/// Keeps supervisors and other launches out of a run's folder, for as long as it lives.
class FolderHold {
 public:
  /// Throws RpcError when another launch, or a deletion, holds the folder.
  explicit FolderHold(const RunFolder& folder) : FolderHold(folder, disk_of(folder.dir())) {}
  FolderHold(const RunFolder& folder, Disk disk);

  /// True once it is certain that nobody supervises the run. Throws RpcError naming the host when
  /// somebody does. On a shared disk a run that another boot has left unended is watched for
  /// kLeaseSeconds first.
  bool step();

  /// Lets go of the supervisor's lock, so that a supervisor can take it; other launches stay out.
  void let_supervise() { lock_ = Descriptor(); }

 private:
  RunFolder folder_;
  Disk disk_;
  Descriptor claim_, lock_;
  std::optional<Json> first_;  ///< `updated` when the watch began
  double begun_;               ///< monotonic seconds; of the watch, once it has begun
};

}  // namespace trainyard
