// What a supervisor does before a run that waits in a queue begins (docs/contracts/gpus.md, A run
// that waits by itself).
#include <unistd.h>

#include "agent/run/run_processes.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/files.h"

namespace trainyard {

std::optional<GenerationResult> Supervisor::wait_in_queue() {
  if (!spec_.queue) return std::nullopt;
  queue_ = std::make_unique<StartQueue>(spec_, GpuHolder{spec_.id, folder_.dir()});
  while (!stop_) {
    if (queue_->look()) {
      begin_with(*queue_);
      queue_.reset();
      return std::nullopt;
    }
    if (state_.waiting != queue_->text()) {
      state_.waiting = queue_->text();
      save_state();
    }
    wait_and_look();
  }
  queue_.reset();
  state_.waiting.clear();
  return stopped_while("waited in the queue");
}

/// run.json names the GPUs that the run has.
void Supervisor::begin_with(StartQueue& queue) {
  gpu_locks_.add(queue.locks());
  stand_guard();
  if (const std::vector<int>& gpus = queue.gpus(); !gpus.empty()) {
    Json run = parse_json(read_file(folder_.run()));
    if (spec_.nodes.empty()) {
      spec_.gpus = gpus;
      run["gpus"] = gpus;
    } else {
      spec_.nodes.front().gpus = gpus;
      run["nodes"][0]["gpus"] = gpus;
      cluster_->set_head_gpus(gpus);
    }
    replace_file(folder_.run(), to_line(run) + "\n");
  }
  begun_ = monotonic_seconds();
  state_.started = now_seconds();
  state_.waiting.clear();
  state_.phase = "starting";
  save_state();
}

/// One that has the locks which the run has now, in place of an earlier one.
void Supervisor::stand_guard() {
  const RunFolder folder = folder_;
  guard_ =
      std::make_unique<Guard>([folder] { return find_run(folder, {::getpid()}); }, lock_fd_, gpu_locks_.descriptors());
  state_.guard = guard_->process();
}

}  // namespace trainyard
