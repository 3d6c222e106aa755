#include "trainer/train/evaluate/evaluation_log.h"

namespace trainyard {

void log_evaluation(MetricsLog& log, const Evaluation& evaluation) {
  const auto& [step, checkpoint, data, scores, seconds, once] = evaluation;
  nlohmann::json line{{"step", step},
                      {"top1", scores.top1},
                      {"top5", scores.top5},
                      {"loss", scores.loss},
                      {"images", scores.images},
                      {"data", data},
                      {"checkpoint", checkpoint},
                      {"seconds", seconds}};
  if (once) line["once"] = true;
  log.line("eval", line);
  log.scalar("loss", step, scores.loss);
  log.scalar("top1", step, scores.top1);
  log.scalar("top5", step, scores.top5);
  log.flush();
}

}  // namespace trainyard
