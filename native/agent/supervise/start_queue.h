// What a run waits for before it begins: a slot of its group on its head, and then GPUs on all its
// nodes.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/cluster/cluster.h"
#include "agent/gpus/gpu_wait.h"
#include "agent/run/folder/run_spec.h"

namespace trainyard {

class StartQueue {
 public:
  /// Queues for the slot at once. `spec` must have a queue. `cluster`: of a run of several nodes, else
  /// nullptr. Throws as GpuTurn.
  StartQueue(const RunSpec& spec, GpuHolder holder, Cluster* cluster);

  /// Looks every 2 s, and takes what is there. True once all is taken. Never waits. Throws
  /// file_error.
  bool look();
  /// The locks that it took on the head.
  GpuLocks locks();
  /// The GPUs that it took, by host; empty where the run takes none.
  std::map<std::string, std::vector<int>> gpus() const;
  /// The run begins with these GPUs: other nodes keep theirs.
  void begin();
  /// Leaves the queues for GPUs of all nodes, and gives back what was taken there.
  void leave();
  /// "waiting for a GPU: 2nd in the queue, behind ada@laptop; held by run R (process 7)". In a run of
  /// several nodes each is named.
  const std::string& text() const { return text_; }

 private:
  bool look_at_slots();
  bool all_have_one_number();
  bool all_are_here();
  void enter();
  void describe();

  const QueueSpec queue_;
  const std::string head_;     ///< its name in the profile; empty where the run names no node
  const size_t wanted_;        ///< GPUs of the head
  const std::vector<int> of_;  ///< GPUs of the head that count
  const GpuHolder holder_;
  Cluster* const cluster_;
  std::unique_ptr<GpuTurn> for_slot_;
  std::unique_ptr<GpuWait> for_gpus_;  ///< on the head
  GpuLocks slot_, locks_;
  std::string text_;
  double next_look_ = 0;  ///< monotonic seconds: at the slots
};

}  // namespace trainyard
