#include "trainer/strategies/lockstep.h"

#include <array>
#include <bit>
#include <utility>

#include "common/stopwatch.h"
#include "trainer/base/note.h"

namespace trainyard {

Lockstep::Lockstep(Communicator& workers, const Variables& variables, Buckets::Start start)
    : workers_(workers),
      variables_(variables),
      buckets_(variables.gradients, std::move(start), variables.bucket_bytes) {}

void Lockstep::ready(size_t begin) {
  if (workers_.world() == 1) return;
  buckets_.ready(begin);
  workers_.progress();
}

void Lockstep::sum(StepSums& sums) {
  std::array<double, 5> values = {sums.images, sums.loss, sums.top1, sums.stop, sums.finish};
  workers_.start_sum(std::span<double>(values));
  const Stopwatch clock;
  workers_.wait_all();
  waited_ms_ += clock.milliseconds();
  buckets_.restart();
  sums = {.images = values[0], .loss = values[1], .top1 = values[2], .stop = values[3], .finish = values[4]};
}

double Lockstep::take_waited_ms() { return std::exchange(waited_ms_, 0.0); }

Report Lockstep::report(const RankFigures& mine) {
  const Noted noted(RankWork::gives_figures);
  const auto values = std::bit_cast<RankNumbers>(mine);
  return {.ranks = rank_figures(workers_.gather(std::span<const double>(values))), .servers = {}, .pushed = {}};
}

}  // namespace trainyard
