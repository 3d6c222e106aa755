// Who may compute on which GPU of this node: one lock for each GPU, which a run's own processes hold
// (docs/contracts/gpus.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/gpus/gpu_folder.h"
#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

/// A GPU as NVML numbers and names it.
struct GpuName {
  int index = 0;
  std::string uuid;  ///< empty where the driver tells none
};

/// Throws FieldError.
std::vector<GpuName> gpu_names(const Json& list, const std::string& where);

/// Who holds a lock, as its file says.
struct GpuHolder {
  std::string run, dir;  ///< the run's id and folder; empty as long as it has none
};

/// Locks that this process holds. They are freed when the last process that has them ends.
class GpuLocks {
 public:
  GpuLocks() = default;
  /// All of them. Throws RpcError (taken) naming a GPU and its holder, file_error, and Error where
  /// the folder is not this user's alone.
  GpuLocks(const std::vector<GpuName>& gpus, const GpuHolder& holder, const std::string& folder = gpu_locks_folder());

  /// Those that another process passed on, by their descriptors: "5,6". Throws Error (usage).
  static GpuLocks passed_on(const std::string& descriptors);

  std::vector<int> descriptors() const;
  /// The words for a program that they are passed on to; none where there are no locks.
  std::vector<std::string> words() const;
  /// Writes into the files that this process holds them.
  void say(const GpuHolder& holder) const;
  /// Holds those of `other` too.
  void add(GpuLocks other);
  /// Frees them, also for the processes that have them too.
  void give_back();

 private:
  std::vector<Descriptor> held_;
};

/// What the lock's file says; null where nobody holds it, or that cannot be known.
Json holder_of(const GpuName& gpu, const std::string& folder = gpu_locks_folder());

/// "run R (process 7)", of what holder_of returned.
std::string holder_words(const Json& holder);

}  // namespace trainyard
