// What the ranks of this node do, for the head, which does not see their processes.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/ranks/hang.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

class NodeActivity {
 public:
  explicit NodeActivity(const RunFolder& folder) : folder_(folder) {}

  /// The list `ranks` of a message `activity`; to be asked for about once a second. Only of ranks
  /// that have been silent for a second it says in words what they do: that takes many files of
  /// /proc. Ranks of a training are silent before their first heartbeat too.
  Json look(const std::vector<RankProcess>& programs, bool is_training);

 private:
  struct Beat {
    ProcessId process;
    std::string text;
    double since = 0;  ///< monotonic seconds at which it was new
  };
  bool is_silent(const RankProcess& program, bool is_training);

  RunFolder folder_;
  ActivityWatch watch_;
  std::map<int, Beat> beats_;
};

}  // namespace trainyard
