// Whether an own program still says anything: bytes in the logs of its ranks, or figures.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "agent/run/folder/run_folder.h"
#include "agent/system/watched_clock.h"

namespace trainyard {

class SilenceWatch {
 public:
  /// `limit`: seconds of silence of all ranks after which they are to be ended; 0 watches nothing.
  SilenceWatch(const RunFolder& folder, int ranks, double limit);

  bool watches() const { return limit_ > 0; }
  /// Looks at the sizes of all files once; the first look is where silence begins to count. `now`:
  /// monotonic seconds. Time in which nobody looked (a frozen machine) does not count. Where the
  /// head's disk is full once the silence counts as stalled, it begins anew: such a disk takes no
  /// log. True where something has come.
  bool look(double now);

  /// For how long nothing came from any rank.
  double seconds() const { return watched_.seconds() - newest_; }
  /// The silence that the newest output ended, in seconds.
  double seconds_before() const { return before_; }
  /// Three quarters of the limit, and twice the longest silence before, are over; or the limit.
  bool is_stalled() const;
  bool is_over() const { return watches() && seconds() > limit_; }
  /// Of the ranks that are not `excused` (ended ones) those that have been silent longest, or
  /// nearly so.
  std::vector<int> longest(const std::vector<bool>& excused) const;
  double seconds_of(int rank) const { return watched_.seconds() - files_[static_cast<size_t>(rank)].changed; }

 private:
  struct File {
    std::string path;
    uintmax_t size = 0;
    double changed = 0;  ///< seconds of watched_
  };

  std::string dir_;
  double limit_;
  std::vector<File> files_;  ///< the log of each rank, and then those with figures
  WatchedClock watched_;
  double newest_ = 0;  ///< seconds of watched_: when something came last
  double before_ = 0, longest_before_ = 0;
  bool spoke_ = false;
};

}  // namespace trainyard
