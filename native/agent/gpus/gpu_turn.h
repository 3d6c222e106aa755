// One start in a queue of this node, from its ticket to the locks that it waited for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/gpus/gpu_locks.h"
#include "agent/gpus/gpu_queue.h"

namespace trainyard {

class GpuTurn {
 public:
  /// Queues at once, before others with a higher number; without one after all who wait. The ticket
  /// ends with this. Throws as GpuQueue::enter.
  GpuTurn(GpuTicket ticket, std::optional<int64_t> number = std::nullopt, std::string folder = gpu_locks_folder());

  /// Takes locks as soon as so many of `usable` are free and not kept for those ahead.
  /// `usable`: what works, and on which nobody computes. Throws file_error.
  std::optional<GpuLocks> look(const std::vector<GpuName>& usable, const GpuHolder& holder);

  /// Those whose locks look() took, in the order of the ticket.
  const std::vector<int>& taken() const { return taken_; }
  /// "2nd in the queue, behind ada@laptop", as the last look found it.
  std::string place() const;

 private:
  GpuTicket ticket_;
  std::string folder_;
  GpuQueue queue_;
  std::vector<std::string> ahead_;  ///< whose starts come first
  std::vector<int> taken_;
};

}  // namespace trainyard
