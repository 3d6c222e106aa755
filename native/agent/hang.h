// Which of the ranks that stand still is the one the others wait for.
#pragma once
#include <string>
#include <vector>

#include "agent/run_state.h"

namespace trainyard {

struct Suspects {
  std::vector<int> ranks;  ///< empty when nothing tells them from the others
  std::string why;         ///< "is stopped" or "computes nothing while the others wait"
};

/// Looks at the processes of ranks without a heartbeat for a third of a second. Ranks that wait in a collective
/// operation poll and so use their processor; a rank that is stopped, or sleeps in a system call, does not.
Suspects find_suspects(const std::vector<RankProcess>& late);

}  // namespace trainyard
