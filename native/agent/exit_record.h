// How a rank ended, as `agent rank` writes it, and what a generation's records say together.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/json.h"
#include "agent/run_folder.h"

namespace trainyard {

struct ExitRecord {
  int rank = 0;
  std::string host;
  int pid = 0;
  std::optional<int> exit_code;  ///< nothing when a signal ended it
  std::optional<int> signal;
  int64_t last_step = 0;
  double started = 0, ended = 0;  ///< seconds since the epoch
  std::optional<std::string> last_line;
  bool lost = false;  ///< it vanished without a record

  Json to_json() const;
  bool succeeded() const { return exit_code == 0; }
  bool stopped_on_request() const { return exit_code == 75; }
  /// Whether it ended as ranks do that lost another: MPI aborts them.
  bool may_be_consequence() const;
  /// As a shell would say it: 128 + signal, 1 for a lost rank.
  int code() const;
  /// One line for people: its own error line, or what ended it, where and at which step.
  std::string description() const;
};

std::optional<ExitRecord> read_exit_record(const std::string& path, int rank);

/// "SIGKILL" and the like.
std::string signal_name(int signal);

/// The last line among the bytes from `offset` on that begins with `trainer: error:` or `agent: error:`, 4 KiB at most.
std::optional<std::string> last_error_line(const std::string& path, uint64_t offset);

/// The record that explains a failure: the first rank that ended neither well nor on request, or, where that may be the
/// consequence of another's end, one that ended within a few seconds of it and said why or was ended by another signal.
const ExitRecord* first_failure(const std::vector<ExitRecord>& records);

}  // namespace trainyard
