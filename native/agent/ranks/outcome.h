// What a rank's program said of its own work (docs/contracts/events.md, Outcomes).
#pragma once
#include <optional>
#include <string>

#include "common/files.h"

namespace trainyard {

struct Outcome {
  std::optional<int> exit_code;   ///< 0: its work is done; 75: stopped on request; else how it failed
  std::optional<bool> retryable;  ///< whether starting again may help
};

/// Where one program writes its outcomes: memory, so that a full disk does not matter.
class OutcomeFile {
 public:
  OutcomeFile();
  /// To be inherited by the program alone; -1 where this system has no such files.
  int fd() const { return fd_.get(); }
  /// The last whole line that was written; empty where there is none that makes sense.
  Outcome read() const;

 private:
  Descriptor fd_;
};

/// Of the last whole line of `text`.
Outcome parse_outcome(const std::string& text);

}  // namespace trainyard
