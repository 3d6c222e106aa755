#include "trainer/train/loop/serve.h"

#include "trainer/base/note.h"
#include "trainer/strategies/parameter_server/server.h"
#include "trainer/train/process/heartbeat.h"
#include "trainer/train/process/memory_usage.h"

namespace trainyard {

RankFigures rank_memory() {
  const MemoryUsage memory = memory_usage();
  return {static_cast<double>(memory.used), static_cast<double>(memory.peak)};
}

Exit serve(const TrainOptions& options, const Team& team) {
  Heartbeat heartbeat(options.run_dir, team.world().rank());
  heartbeat.beat(0, "starting");
  note(RankWork::serves);
  const bool stopped =
      serve_variables(team, {.optimizer = options.optimizer,
                             .alive = [&](int64_t step) { heartbeat.beat(step, step > 0 ? "training" : "starting"); },
                             .memory = rank_memory});
  return stopped ? Exit::stopped : Exit::ok;
}

}  // namespace trainyard
