// What a run waits for on its head before it begins: a slot of its group, and then GPUs.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/figures/host_sample.h"
#include "agent/gpus/gpu_turn.h"
#include "agent/run/folder/run_spec.h"

namespace trainyard {

class StartQueue {
 public:
  /// Queues for the slot at once. `spec` must have a queue. Throws as GpuTurn.
  StartQueue(const RunSpec& spec, GpuHolder holder);

  /// Looks every 2 s, and takes what is there. True once all is taken. Never waits. Throws
  /// file_error.
  bool look();
  /// The locks that it took.
  GpuLocks locks() { return std::move(locks_); }
  /// The GPUs that it took; empty where the run takes none.
  const std::vector<int>& gpus() const { return gpus_; }
  /// "waiting for a GPU: 2nd in the queue, behind ada@laptop; held by run R (process 7)".
  const std::string& text() const { return text_; }
  /// The process that asks for the figures of GPUs; -1 while there is none.
  int asker() const { return sampler_.asker(); }

 private:
  bool look_at_slots();
  bool look_at_gpus();

  const QueueSpec queue_;
  const size_t wanted_;        ///< GPUs
  const std::vector<int> of_;  ///< GPUs that count
  const GpuHolder holder_;
  HostSampler sampler_;
  std::optional<double> asked_;  ///< monotonic seconds: the figures under way
  std::unique_ptr<GpuTurn> for_slot_, for_gpus_;
  GpuLocks locks_;
  std::vector<int> gpus_;
  std::string text_;
  double next_look_ = 0;  ///< monotonic seconds
};

}  // namespace trainyard
