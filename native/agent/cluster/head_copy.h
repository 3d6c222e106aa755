// The head's side of what crosses from a node: its ranks' records, heartbeats, logs and figures
// become files of the head's run folder. No path ever comes from a node, only numbers that are
// checked first.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "agent/messages/json.h"
#include "agent/run/run_folder.h"
#include "agent/run/sample_log.h"

namespace trainyard {

class HeadCopy {
 public:
  HeadCopy(const RunFolder& folder, const std::string& host) : folder_(folder), samples_(folder, host) {}

  /// The ranks whose records and heartbeats this node may write now.
  void set_ranks(int generation, int first, int count);
  /// False for a message of another kind. Throws FieldError for one that no node of ours sends.
  bool take(const std::string& kind, const Json& message);
  /// What the node needs to go on after a new connection; null before it was ever here.
  Json offsets() const;
  void begin() { known_ = true; }

 private:
  void take_record(const Json& message, bool ended);
  void take_beat(const Json& message);
  void take_log(const Json& message);
  bool is_ours(int64_t generation, int64_t rank) const;

  RunFolder folder_;
  SampleFile samples_;
  int generation_ = 0, first_ = 0, count_ = 0;
  bool known_ = false;
  std::map<int, uint64_t> copied_;  ///< bytes of the node's own log, by rank
};

}  // namespace trainyard
