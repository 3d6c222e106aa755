// What rank 0 records of a training: its lines of metrics.jsonl (docs/contracts/files.md) and its
// curves.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/models/network.h"
#include "trainer/optim/loss_scaler.h"
#include "trainer/strategies/report.h"
#include "trainer/strategies/team.h"
#include "trainer/train/log/metrics_log.h"
#include "trainer/train/log/servers_log.h"
#include "trainer/train/plan/options.h"
#include "trainer/train/plan/plan.h"
#include "trainer/train/process/interval.h"

namespace trainyard {

/// What is known once the network is made.
struct TrainStart {
  bool device_sums = false;                 ///< gradients meet on the devices (NCCL), not by MPI
  std::vector<std::string> made_new;        ///< tensors that --init-weights did not give
  std::vector<CheckpointInfo> passed_over;  ///< newer than the checkpoint of the resume, and not valid
};

/// What of a GPU is taken before the first step, as a line on stderr. to_come: bytes that the step
/// takes.
void say_memory(const std::optional<MemoryFigures>& memory, size_t to_come);
/// A resume with another recipe may be meant, but never goes by in silence.
void say_recipe_changes(const TrainPlan& plan);
/// Which tensors --init-weights `path` did not give, if any.
void say_made_new(const std::string& path, int classes, const std::vector<std::string>& made_new);

class TrainLog {
 public:
  /// All three must outlive it. `plan`: complete.
  TrainLog(const TrainOptions& options, const TrainPlan& plan, const Team& team);

  /// The line `start`, one for each checkpoint that was passed over, and the network's graph.
  void start(Network& network, const TrainStart& start);
  /// The line `step` with its curves, and the line `host` of every rank. `step`: steps done;
  /// `interval`: at least one step; `scaler`: nullptr where the loss is not scaled.
  void interval(int64_t step, const Interval& interval, const Report& report, const LossScaler* scaler);
  /// From any thread, as the next. `write_ms`: milliseconds that writing took; `held_ms`: for which
  /// it kept the training waiting.
  void checkpoint(int64_t step, const CheckpointInfo& saved, double write_ms, double held_ms);
  void checkpoint_failed(int64_t step, const std::string& message);
  /// `count`: bad images of this rank so far.
  void bad_image(int64_t step, const std::string& path, const std::string& message, int64_t count);
  /// The line `end`. `seconds`: since the first step began.
  void end(int64_t step, double seconds, bool stopped);
  /// Tries for up to 10 s to write what a full disk has held back; calls `alive` meanwhile.
  void finish(const std::function<void()>& alive);

 private:
  void host(int64_t step, size_t rank, const RankFigures& figures);

  const TrainOptions& options_;
  const TrainPlan& plan_;
  const Team& team_;
  MetricsLog log_;
  ServersLog servers_;
  double images_ = 0;   ///< of all intervals
  double seconds_ = 0;  ///< of all intervals
};

}  // namespace trainyard
