// What happened since the last line of metrics.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>

#include "common/stopwatch.h"

namespace trainyard {

struct Interval {
  int64_t steps = 0;
  double loss = 0;  ///< sum over steps
  double top1 = 0;  ///< sum over steps
  double comm_ms = 0;
  double input_wait_ms = 0;
  double gradient_norm = 0;  ///< sum over steps; 0 where nothing clips
  double lr = 0;             ///< of the newest step
  double left_out_ms = 0;    ///< waits for checkpoints, not part of the training rate
  Stopwatch clock;

  void restart() { *this = Interval(); }
  void add(double step_loss, double step_top1, double step_comm_ms, double step_lr) {
    ++steps;
    loss += step_loss;
    top1 += step_top1;
    comm_ms += step_comm_ms;
    lr = step_lr;
  }
  void leave_out(double milliseconds) { left_out_ms += milliseconds; }
  double seconds() const { return (clock.milliseconds() - left_out_ms) / 1000.0; }

  nlohmann::json fields(int64_t step, int64_t steps_per_epoch, int64_t global_batch, int world) const {
    const auto count = static_cast<double>(steps);
    const double elapsed = seconds();
    nlohmann::json line = {{"step", step},
                           {"epoch", static_cast<double>(step) / static_cast<double>(steps_per_epoch)},
                           {"loss", loss / count},
                           {"top1", top1 / count},
                           {"lr", lr},
                           {"images_per_sec", static_cast<double>(steps * global_batch) / elapsed},
                           {"step_ms", 1000.0 * elapsed / count},
                           {"comm_ms", comm_ms / count},
                           {"input_wait_ms", input_wait_ms / count},
                           {"world", world}};
    if (gradient_norm > 0) line["gradient_norm"] = gradient_norm / count;
    return line;
  }
};

}  // namespace trainyard
