// A rank's sign of life, read by the agent: which step, when, and what it is doing.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "common/files.h"

namespace trainyard {

/// Overwrites <dir>/NAME in place: 127 bytes and a newline, so a reader never sees half of one.
class Heartbeat {
 public:
  /// Folder: TRAINYARD_HEARTBEAT_DIR, else <run_dir>/heartbeats; made when missing.
  /// `name`: rank-<n>, or eval.
  Heartbeat(const std::string& run_dir, const std::string& name);
  Heartbeat(const std::string& run_dir, int rank) : Heartbeat(run_dir, "rank-" + std::to_string(rank)) {}
  /// From any thread.
  void beat(int64_t step, const char* phase);

 private:
  std::string path_;
  Descriptor fd_;
  std::atomic<bool> failed_ = false;  ///< a full disk must not end training; said once
};

}  // namespace trainyard
