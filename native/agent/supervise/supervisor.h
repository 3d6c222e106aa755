// The life of a run: its generations, evaluator, journal, figures and requests to stop.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/cluster/cluster.h"
#include "agent/gpus/gpu_locks.h"
#include "agent/notify/notifier.h"
#include "agent/reports/reports.h"
#include "agent/run/journal.h"
#include "agent/run/sample_log.h"
#include "agent/run/stop_watch.h"
#include "agent/supervise/budget.h"
#include "agent/supervise/evaluator.h"
#include "agent/supervise/generation.h"
#include "agent/supervise/run_watch.h"
#include "agent/supervise/start_queue.h"
#include "agent/system/clock.h"
#include "agent/system/guard.h"
#include "agent/tensorboard/tensorboard_watch.h"

namespace trainyard {

class Supervisor {
 public:
  /// `lock_fd`: the held lock of the run folder, which the guard keeps too, as it does `gpus`.
  Supervisor(const RunFolder& folder, const RunSpec& spec, const Budget& budget, int generation, int lock_fd,
             GpuLocks gpus);

  /// Runs the run to its end; returns the run's exit code.
  int run();

 private:
  void wait_and_look();
  void take_signals();
  void reap();
  void look_at_stop_request();
  /// Ends a run whose folder was deleted: nobody could see or stop it any more.
  void look_at_folder();
  void request_stop(const StopRequest& request);
  GenerationResult run_generations();
  GenerationResult run_generation();
  Command mpiexec_command(const RunSpec& spec) const;
  void start_mpiexec(const RunSpec& spec, RankHosts& hosts);
  /// Until the run has what it waits for before it begins; what it ends with where it is stopped
  /// meanwhile.
  std::optional<GenerationResult> wait_in_queue();
  bool begins();
  void begin_with(StartQueue& queue);
  void stand_guard();
  std::optional<std::string> open_cluster();
  /// For all nodes before the first generation; before another one for as many as it needs, and for
  /// all a moment. What the run ends with where it cannot go on.
  std::optional<GenerationResult> wait_for_nodes(bool first);
  /// Whether none of its nodes is missing, or (not `first`) those that are there take all ranks.
  bool all_nodes(bool first) const;
  bool enough_nodes() const;
  GenerationResult stopped_while(const std::string& doing) const;
  /// The nodes that the next generation has. Notes which take the place of others.
  RunSpec spec_of_generation();
  /// Why rank 0, which writes metrics or checkpoints, cannot be where it would be:
  /// the head has no ranks, and that node does not see the run folder.
  std::optional<GenerationResult> look_for_leader() const;
  /// Before a generation on the nodes that are there now.
  std::optional<GenerationResult> prepare_nodes(bool first);
  /// Brings the shared folder to the nodes.
  std::optional<GenerationResult> share_folder(bool first);
  void settle_nodes(bool over);
  void finish_mirror();
  void describe_cluster();
  void say_restarting(const GenerationResult& before, int restarts_left);
  GenerationListener listener();
  void rest_before_restart();
  GenerationResult with_stop_now(GenerationResult result) const;
  /// Of a generation that would have been restarted but for the stop.
  GenerationResult as_stopped(GenerationResult result) const;
  void end_evaluator(const GenerationResult& result);
  void conclude(const GenerationResult& result);
  std::set<int> spared() const;
  void set_phase(const std::string& phase);
  void save_state();
  void save_what_waits();
  void wait_for_disk();
  bool stop_now() const { return stop_ && stop_->mode == StopRequest::Mode::now; }

  RunFolder folder_;
  RunSpec spec_;
  Budget budget_;
  RunState state_;
  Journal journal_;
  GpuLocks gpu_locks_;
  int lock_fd_;  ///< of the run folder's lock
  std::unique_ptr<Guard> guard_;
  Evaluator evaluator_;
  bool stop_came_first_ = false;  ///< before any failure of the generation: no restart follows one
  TensorboardWatch tensorboard_;
  SampleLog samples_;
  Reports reports_;
  Notifier notifier_;
  RunWatch watch_;
  std::unique_ptr<StartQueue> queue_;  ///< while the run waits in it
  double next_queue_look_ = 0;         ///< monotonic seconds
  LocalRanks local_;
  Descriptor signals_;                       ///< readable while a signal waits
  std::unique_ptr<ControlChannel> control_;  ///< to mpiexec of this generation
  std::unique_ptr<Cluster> cluster_;         ///< of a run of several hosts
  std::unique_ptr<Generation> generation_;
  int restarts_ = 0;                  ///< that this supervisor made
  std::vector<std::string> members_;  ///< hosts with ranks of the newest generation
  std::optional<StopRequest> stop_;
  bool state_saved_ = true;                       ///< state.json says what state_ does
  double next_slow_look_ = 0, next_refresh_ = 0;  ///< monotonic seconds
  double begun_ = monotonic_seconds();            ///< of what its limits count
  std::optional<double> folder_gone_since_;       ///< monotonic seconds
};

}  // namespace trainyard
