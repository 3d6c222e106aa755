// Figures of all ranks of a run, as rank 0 writes them into metrics.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trainyard {

struct RankFigures {
  double memory_used = 0;  ///< bytes
  double memory_peak = 0;  ///< bytes
  double bad_images = 0;   ///< files that this rank met and could not read
  double gpu_used = 0;     ///< bytes of its GPU, by this rank; 0 where it has none
  double gpu_peak = 0;
  double gpu_free = 0;
  double steps = 0;          ///< that the three medians below are over; 0 where the rank makes none
  double compute_ms = 0;     ///< median a step, the waits left out
  double comm_ms = 0;        ///< median a step: waits for other ranks
  double input_wait_ms = 0;  ///< median a step: waits for images
};
/// As they travel.
using RankNumbers = std::array<double, 10>;
static_assert(sizeof(RankNumbers) == sizeof(RankFigures));

/// What a parameter server did since the run began.
struct ServerFigures {
  double rank = 0;
  double parameters = 0;  ///< how many it keeps
  double busy = 0;        ///< seconds that it worked
  double seconds = 0;     ///< since its first update began to be waited for
  double updates = 0;
  double staleness = 0;      ///< sum over updates of: updates by others since the pushing worker had pulled
  double staleness_max = 0;  ///< the largest
};

/// What workers that do not wait for each other did since the last report.
struct PushedFigures {
  double images = 0;
  double loss = 0;  ///< sum over images
  double top1 = 0;  ///< images
};

struct Report {
  std::vector<RankFigures> ranks;  ///< of the whole world
  std::vector<ServerFigures> servers;
  std::optional<PushedFigures> pushed;  ///< only where workers do not wait for each other
};

/// RankFigures out of the RankNumbers of every rank.
std::vector<RankFigures> rank_figures(std::span<const double> numbers);

}  // namespace trainyard
