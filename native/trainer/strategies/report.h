// Figures of all ranks of a run, as rank 0 writes them into metrics.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trainyard {

/// Bytes.
struct RankFigures {
  double memory_used = 0;
  double memory_peak = 0;
  double gpu_used = 0;  ///< of its GPU, by this rank; 0 where it has none
  double gpu_peak = 0;
  double gpu_free = 0;
};

/// How many numbers RankFigures are, which go between ranks as such.
inline constexpr size_t kRankNumbers = 5;
std::array<double, kRankNumbers> numbers_of(const RankFigures& figures);

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

/// RankFigures out of [world, kRankNumbers] numbers.
std::vector<RankFigures> rank_figures(std::span<const double> numbers);

}  // namespace trainyard
