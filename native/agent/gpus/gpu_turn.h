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

  int64_t number() const { return number_; }
  /// Goes to the place of this number. Throws as GpuQueue::enter.
  void come_at(int64_t number);

  /// Takes locks as soon as so many of `usable` are free and not kept for those ahead. From then on
  /// the ticket is for these GPUs alone: it keeps its number, and no other GPU from those behind.
  /// `usable`: what works, and on which nobody computes. With many ahead it looks seldom: each 10 s
  /// where 40 are, and each 30 s at the least. Throws file_error.
  std::optional<GpuLocks> look(const std::vector<GpuName>& usable, const GpuHolder& holder);

  /// Those whose locks look() took, in the order of the ticket.
  const std::vector<int>& taken() const { return taken_; }
  /// "2nd in the queue", as the last look found it.
  std::string position() const;
  /// "2nd in the queue, behind ada@laptop".
  std::string place() const;

 private:
  GpuTicket ticket_;
  std::string folder_;
  GpuQueue queue_;
  int64_t number_;
  std::vector<std::string> ahead_;  ///< whose starts come first
  std::vector<int> taken_;
  double next_look_ = 0;  ///< monotonic seconds
};

}  // namespace trainyard
