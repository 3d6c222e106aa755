// A rank that keeps variables for the others and trains nothing itself.
#pragma once
#include <cstdint>
#include <functional>

#include "trainer/strategies/team.h"

namespace trainyard {

struct ServerOptions {
  OptimizerOptions optimizer{};
  std::function<void(int64_t step)> alive;  ///< called after each request, and now and then before the first
  std::function<RankFigures()> memory;      ///< of this process, now
};

/// Serves until the leader says that the run is over; whether it was stopped. The kind of each
/// message distinguishes a step of `parameter-server` from a push of `parameter-server-async`.
bool serve_variables(const Team& team, const ServerOptions& options);

}  // namespace trainyard
