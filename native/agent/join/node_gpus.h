// The GPUs of this node that the run has: their locks, the guard that keeps them too, and the queue
// in which the run waits for them before it begins (cluster/cluster_queue.h).
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/connection/wire.h"
#include "agent/gpus/gpu_wait.h"
#include "agent/run/folder/run_folder.h"
#include "agent/system/guard.h"

namespace trainyard {

class NodeGpus {
 public:
  /// `lock_fd`: the held lock of `agent join`, which the guard keeps too, as it does `locks`.
  NodeGpus(const RunFolder& folder, const std::string& host, int lock_fd, GpuLocks locks);

  /// Whether the message is one of a queue. Throws FieldError, and as GpuQueue::enter.
  bool obey(const Json& message, Wire& wire);
  /// Looks whether it is this run's turn; to be called often. `wire`: nullptr while the head is not
  /// connected. Returns true when it has just taken the GPUs: a new guard has their locks then. An
  /// error, which may pass as on a full disk, goes to the head as the text of the wait; after 2 s it
  /// tries again.
  bool look(Wire* wire);
  /// Whether the run waits in the queue, as far as the head has said.
  bool waits() const { return wait_ != nullptr; }
  /// Leaves the queue, and frees the locks.
  void give_back();

  /// Its own processes, which are none of the run's, and `others`.
  std::set<int> spared(std::set<int> others) const {
    others.insert({guard_->process().pid, wait_ ? wait_->asker() : -1});
    return others;
  }
  int guard() const { return guard_->process().pid; }

 private:
  void enter(const Fields& message);
  void tell(Wire& wire, const std::string& text);
  void stand_guard();

  const RunFolder folder_;
  const std::string host_;
  const int lock_fd_;
  GpuLocks locks_;
  std::unique_ptr<Guard> guard_;
  std::string ticket_;             ///< its id; empty: in no queue
  std::unique_ptr<GpuWait> wait_;  ///< with the ticket, until all nodes have taken
  bool may_take_ = false;          ///< all nodes have the ticket's number
  bool has_taken_ = false;
  double next_look_ = 0;   ///< monotonic seconds
  std::string sent_text_;  ///< the text that the head has
};

}  // namespace trainyard
