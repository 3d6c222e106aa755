#include "trainer/train/process/shard_progress.h"

#include <cstdio>
#include <memory>

#include "trainer/train/process/interval.h"

namespace trainyard {

namespace {
constexpr double kBetweenLinesMs = 3000;
}

std::function<void(int64_t done, int64_t total)> shard_progress(bool speak, std::function<void()> beat) {
  return [speak, beat = std::move(beat), clock = std::make_shared<Stopwatch>()](int64_t done, int64_t total) {
    if (beat) beat();
    if (!speak || clock->milliseconds() < kBetweenLinesMs) return;
    *clock = Stopwatch();
    std::fprintf(stderr, "trainer: walked through %.1f of %.1f GB of shards\n", static_cast<double>(done) / 1e9,
                 static_cast<double>(total) / 1e9);
  };
}

}  // namespace trainyard
