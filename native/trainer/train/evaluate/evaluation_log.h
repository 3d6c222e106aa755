// What is recorded of an evaluation, whoever made it.
#pragma once
#include <cstdint>
#include <string>

#include "trainer/train/evaluate/evaluate.h"
#include "trainer/train/log/metrics_log.h"

namespace trainyard {

struct Evaluation {
  int64_t step = 0;        ///< of the checkpoint
  std::string checkpoint;  ///< its name: step-00000120
  std::string data;        ///< the images, as they were named
  EvalScores scores{};
  double seconds = 0;
  bool once = false;  ///< somebody asked for this one
};

/// The line `eval` and its curves, written out.
void log_evaluation(MetricsLog& log, const Evaluation& evaluation);

}  // namespace trainyard
