// What a supervisor does before a run that waits in a queue begins (docs/contracts/gpus.md, A run
// that waits by itself).
#include <unistd.h>

#include "agent/run/run_processes.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kAgainSeconds = 2;  // after an error, which may pass

}  // namespace

std::optional<GenerationResult> Supervisor::wait_in_queue() {
  if (!spec_.queue) return std::nullopt;
  const bool has_others = spec_.nodes.size() > 1;
  if (has_others) {  // one that cannot join ends the run now, and not when its turn comes
    state_.waiting = "waiting for its nodes";
    save_state();
    auto without = wait_for_nodes(true);
    if (without) return without;
  }
  queue_ =
      std::make_unique<StartQueue>(spec_, GpuHolder{spec_.id, folder_.dir()}, has_others ? cluster_.get() : nullptr);
  GenerationResult failed;
  while (!stop_ && !failed.reason) {
    if (begins()) {
      queue_.reset();
      if (!cluster_) failed.reason = open_cluster();
      return failed.reason ? std::optional(failed) : std::nullopt;
    }
    wait_and_look();
    if (has_others) failed.reason = cluster_->failure();
  }
  queue_->leave();
  queue_.reset();
  return stop_ ? stopped_while("waited in the queue") : failed;
}

/// Whether its turn has come, and it has begun. What fails may pass, as on a full disk: the run goes
/// on waiting with what it has, and says why.
bool Supervisor::begins() {
  if (monotonic_seconds() < next_queue_look_) return false;
  std::string text;
  try {
    if (queue_->look()) {
      begin_with(*queue_);
      return true;
    }
    text = queue_->text();
  } catch (const std::exception& error) {
    text = std::string("waiting, and trying again, since its turn cannot be taken: ") + error.what();
    next_queue_look_ = monotonic_seconds() + kAgainSeconds;
  }
  if (state_.waiting == text) return false;
  state_.waiting = text;
  save_state();
  return false;
}

/// run.json names the GPUs that the run has. After an error it can be called again.
void Supervisor::begin_with(StartQueue& queue) {
  if (const auto taken = queue.gpus(); !taken.empty()) {
    Json run = parse_json(read_file(folder_.run()));
    if (spec_.nodes.empty()) run["gpus"] = spec_.gpus = taken.begin()->second;
    for (size_t at = 0; at < spec_.nodes.size(); ++at) {
      NodeSpec& node = spec_.nodes[at];
      const auto found = taken.find(node.host);
      if (found == taken.end()) continue;
      run["nodes"][at]["gpus"] = node.gpus = found->second;
      if (cluster_) cluster_->set_gpus(node.host, node.gpus);
    }
    replace_file(folder_.run(), to_line(run) + "\n");
  }
  gpu_locks_.add(queue.locks());  // last: a node that is lost before gives back what the queue holds
  stand_guard();
  queue.begin();
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
