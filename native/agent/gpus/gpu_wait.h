// The wait of one start for GPUs of this node: looks at them every 2 s, and says what it waits for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/figures/host_sample.h"
#include "agent/gpus/gpu_turn.h"

namespace trainyard {

class GpuWait {
 public:
  /// Queues at once, before others with a higher number; without one after all who wait. `host`:
  /// the node's name for the text; empty: it is not named. Throws as GpuQueue::enter.
  GpuWait(const GpuTicket& ticket, GpuHolder holder, const std::string& host = "",
          std::optional<int64_t> number = std::nullopt);

  int64_t number() const { return turn_.number(); }
  /// Throws as GpuQueue::enter.
  void come_at(int64_t number) { turn_.come_at(number); }

  /// The locks, once it has taken them. Never waits. Throws as GpuTurn::look.
  std::optional<GpuLocks> look();
  /// Those whose locks look() took, in the order of the ticket.
  const std::vector<int>& taken() const { return turn_.taken(); }
  /// "waiting for a GPU on gpu2: 2nd in the queue, behind ada@laptop; held by run R (process 7)".
  /// Empty before the first look.
  const std::string& text() const { return text_; }
  /// The process that asks for the figures of GPUs; -1 while there is none.
  int asker() const { return sampler_.asker(); }

 private:
  const std::string wanted_;   ///< in words
  const std::vector<int> of_;  ///< GPUs that count
  const GpuHolder holder_;
  GpuTurn turn_;
  HostSampler sampler_;
  std::optional<double> asked_;  ///< monotonic seconds: the figures under way
  std::string text_;
  double next_look_ = 0;  ///< monotonic seconds
};

}  // namespace trainyard
