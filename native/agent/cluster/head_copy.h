// The head's side of what crosses from a node: its ranks' records, heartbeats, logs and figures
// become files of the head's run folder. No path ever comes from a node, only numbers that are
// checked first.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "agent/cluster/head_figures.h"
#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"
#include "agent/run/log_times.h"
#include "agent/run/sample_log.h"

namespace trainyard {

class HeadCopy {
 public:
  HeadCopy(const RunFolder& folder, const std::string& host)
      : folder_(folder), samples_(folder, host), figures_(folder, host) {}

  /// The ranks whose records and heartbeats this node may write now.
  void set_ranks(int generation, int first, int count);
  /// False for a message of another kind. Throws FieldError for one that no node of ours sends.
  bool take(const std::string& kind, const Json& message);
  /// What the node needs to go on after a new connection; null before it was ever here.
  Json offsets() const;
  /// Up to which sizes of the node's logs their times are known, by rank.
  Json timed() const;
  HeadFigures& figures() { return figures_; }
  void begin() { known_ = true; }

 private:
  void take_record(const Json& message, bool ended);
  /// Records that the disk did not take. A node sends each of them once.
  void write_missed();
  void take_beat(const Json& message);
  void take_log(const Json& message);
  void take_times(const Json& message);
  bool is_ours(int64_t generation, int64_t rank) const;

  RunFolder folder_;
  SampleFile samples_;
  HeadFigures figures_;
  int generation_ = 0, first_ = 0, count_ = 0;
  bool known_ = false;
  std::map<std::string, std::string> missed_;  ///< of this generation: path and line
  /// Of one rank. Sizes and offsets are those of the node's own log.
  struct Log {
    uint64_t copied = 0;
    uint64_t timed = 0;
    int64_t shift = 0;  ///< how much further the same bytes stand in the head's log
    LogTimeFile times;
  };
  std::map<int, Log> logs_;
};

}  // namespace trainyard
