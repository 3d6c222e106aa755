// Which of the ranks that stand still is the one the others wait for, and what it does.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/run/run_state.h"

namespace trainyard {

/// What a rank's process did since it was looked at before.
struct Activity {
  int rank = 0;
  char state = '?';     ///< as in /proc/PID/stat; '?' when it is gone
  double busy = 0;      ///< processors used, on average; 0 at the first look
  std::string doing{};  ///< see doing_of; empty where nobody has looked
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

struct Doing {
  int rank = 0;
  std::string what;  ///< its subject is the rank
};

inline constexpr size_t kMostTold = 8;  ///< ranks of which it is said what they do

struct Suspects {
  std::vector<int> ranks;  ///< empty when nothing tells them from the others
  std::string why;         ///< "is stopped" or "computes nothing while the others wait"
  /// Of the suspects, or of all that are late where there is none; of kMostTold at most.
  std::vector<Doing> doing{};
};

/// What a verdict says of the suspects: "rank 1 computes nothing while the others wait; it waits
/// for the disk: it reads /x". Without suspects what the only late rank does; else empty.
std::string suspicion(const Suspects& suspects);

/// Ranks that wait in a collective operation poll and so use their processor; a rank that is
/// stopped, or sleeps in a system call, does not.
Suspects judge(const std::vector<Activity>& late);

/// Looks at the processes of ranks without a heartbeat, on this machine, for a third of a second.
Suspects find_suspects(const std::vector<RankProcess>& late);

}  // namespace trainyard
