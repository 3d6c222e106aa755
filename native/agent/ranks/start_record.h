// The record that a rank's program has started, which names its processes.
#pragma once
#include <optional>
#include <string>

#include "agent/ranks/debugged.h"
#include "agent/run/folder/run_folder.h"
#include "agent/system/kill.h"

namespace trainyard {

class StartRecord {
 public:
  /// `debug`: of a rank that waits for a debugger.
  StartRecord(const RunFolder& folder, int generation, int rank, int program, std::optional<DebugPlace> debug);
  /// Writes the record, once: of a rank that waits for a debugger when its port listens, or after
  /// some time. Throws Error where it cannot be written.
  void look();
  /// The program has ended. Writes the record, unless it is written.
  void finish();
  bool is_written() const { return written_; }

 private:
  void write();

  std::string path_;
  int rank_;
  ProcessId program_;
  std::optional<DebugPlace> debug_;
  double begun_;
  bool written_ = false;
};

}  // namespace trainyard
