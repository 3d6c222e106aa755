// Brings what an own program reports on this node to the head of the run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "agent/connection/wire.h"
#include "agent/reports/reports.h"
#include "agent/run/folder/run_folder.h"
#include "common/files.h"

namespace trainyard {

class NodeFigures {
 public:
  NodeFigures(const RunFolder& folder, const std::string& host);

  /// Follows the run folder from now on, before the ranks of a generation start; as long as another
  /// node, which sees the same folder, does not. The process of an `agent join` that was killed
  /// counts as one until it has ended.
  void begin(int generation);
  /// How many bytes of this node's figures the head has; nothing when it has never heard of this
  /// node, and then only what is found from this process's start on counts.
  void set_offset(std::optional<uint64_t> copied) { sent_ = copied.value_or(size_at_start_); }
  /// How many of them have been sent.
  uint64_t offset() const { return sent_; }
  /// Sends what is new, in whole lines.
  void pump(Wire& wire);
  /// The ranks have ended for good. Whether all that they reported has been sent; to be called until
  /// it is.
  bool concluded(Wire& wire);
  /// The process that reads; -1 while there is none.
  int pid() const { return reports_.pid(); }

 private:
  void follow();
  void send_lines(Wire& wire);

  const std::string path_;
  const uint64_t size_at_start_;
  uint64_t sent_;
  const std::string lock_path_;
  Descriptor lock_;      ///< held while this node follows the folder
  int generation_ = 0;   ///< 0: of none yet
  double next_try_ = 0;  ///< monotonic seconds: to get the lock
  Reports reports_;
};

}  // namespace trainyard
