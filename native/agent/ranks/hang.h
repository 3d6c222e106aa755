// Which of the ranks that stand still is the one the others wait for.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/run/run_state.h"

namespace trainyard {

/// What a rank's process did since it was looked at before.
struct Activity {
  int rank = 0;
  char state = '?';  ///< as in /proc/PID/stat; '?' when it is gone
  double busy = 0;   ///< processors used, on average; 0 at the first look
};

/// Looks at processes of this machine again and again.
class ActivityWatch {
 public:
  std::vector<Activity> look(const std::vector<RankProcess>& ranks);

 private:
  struct Seen {
    ProcessId process;
    long ticks = 0;  ///< user and system time
    double at = 0;   ///< monotonic seconds
  };
  std::map<int, Seen> before_;
};

struct Suspects {
  std::vector<int> ranks;  ///< empty when nothing tells them from the others
  std::string why;         ///< "is stopped" or "computes nothing while the others wait"
};

/// Ranks that wait in a collective operation poll and so use their processor; a rank that is
/// stopped, or sleeps in a system call, does not.
Suspects judge(const std::vector<Activity>& late);

/// Looks at the processes of ranks without a heartbeat, on this machine, for a third of a second.
Suspects find_suspects(const std::vector<RankProcess>& late);

}  // namespace trainyard
