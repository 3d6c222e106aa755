// Where the time of this rank's steps went since the last line of metrics.
#pragma once
#include <cstddef>
#include <vector>

#include "trainer/strategies/report.h"

namespace trainyard {

/// One step of one rank, in milliseconds of wall time. What is in neither wait is computing.
struct StepTime {
  double whole_ms = 0;
  double comm_ms = 0;        ///< waits for other ranks
  double input_wait_ms = 0;  ///< waits for images
};

/// The steps of one interval. No call waits for a device, and none talks to other ranks.
class StepTimes {
 public:
  /// Steps that medians are made of: the newest ones of a longer interval.
  static constexpr size_t most = 1024;

  void add(const StepTime& step);
  void restart();
  /// Fills steps, compute_ms, comm_ms and input_wait_ms: each the median over [steps] steps, in
  /// milliseconds a step. All 0 where there was no step.
  void fill(RankFigures& figures) const;

 private:
  std::vector<StepTime> steps_;  ///< [at most `most`], the oldest overwritten first
  size_t next_ = 0;
};

}  // namespace trainyard
