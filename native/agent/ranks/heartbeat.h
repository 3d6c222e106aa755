// heartbeats/rank-<n>: the 128 bytes that a rank overwrites after each step.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/run/folder/run_folder.h"
#include "agent/system/clock.h"
#include "agent/system/watched_clock.h"

namespace trainyard {

struct Heartbeat {
  int64_t step = 0;
  std::string phase;
  std::string text;  ///< as read: it changes with every beat, whatever the rank's clock says
};

/// Nothing while there is no readable heartbeat.
std::optional<Heartbeat> read_heartbeat(const std::string& path);

/// Which ranks have stopped beating, judged by this process's own clock. Time in which nobody looked
/// (a frozen machine) does not count.
class HeartbeatWatch {
 public:
  /// `required`: ranks of our trainer must beat within `timeout` + `first_allowance` of their
  /// start; any other program only once it has begun to. `timeout` 0 watches nothing.
  HeartbeatWatch(const RunFolder& folder, int ranks, double timeout, double first_allowance, bool required);

  /// Reads all heartbeats. Returns the ranks among those not `excused` (ended ones) that are
  /// overdue. While one starts, evaluates or writes a checkpoint the others wait for it, so
  /// their silence counts from its last beat. `now`: monotonic seconds; counting begins with the
  /// first look.
  std::vector<int> overdue(const std::vector<bool>& excused, double now = monotonic_seconds());

  /// Whether the rank says that it writes a checkpoint, and has beaten within so many seconds.
  /// Reads the heartbeats anew.
  bool writes_checkpoint(int rank, double seconds);
  /// The longest time from one beat to the next of any rank that has made a step.
  double longest_step() const;
  /// How long a rank has not beaten: ranks that wait for one another fall silent one by one.
  double silent_seconds(int rank) const;
  /// For how long no rank at all has beaten, where each that is not `excused` has made a step; 0
  /// where that is no longer than three times what a step took at most before.
  double stalled_seconds(const std::vector<bool>& excused) const;

  int64_t last_step() const;  ///< the least of the ranks' newest steps, 0 before the first
  int64_t step_of(int rank) const { return ranks_[static_cast<size_t>(rank)].step; }

 private:
  struct Rank {
    std::string text;
    int64_t step = 0;
    double changed = 0;  ///< seconds of watched_
    double longest = 0;  ///< seconds between two beats, from the first step on
    bool began = false;
    std::string phase;  ///< of the newest beat
  };
  /// `now`: seconds of watched_.
  void read_all(double now);

  RunFolder folder_;
  double timeout_, first_allowance_;
  bool required_;
  WatchedClock watched_;
  std::vector<Rank> ranks_;
};

/// Removes the heartbeats of an earlier generation, which would read as ranks that hang.
void remove_heartbeats(const RunFolder& folder);

}  // namespace trainyard
