// How a rank ended, as `agent rank` writes it, and what a generation's records say together.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/ranks/outcome.h"
#include "agent/run/folder/run_folder.h"

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
  std::optional<std::string> exception;  ///< the Python exception that it printed, where it failed
  Outcome outcome;                       ///< what the program itself said, which counts more than how it ended then
  bool lost = false;                     ///< it vanished without a record
  double seen = 0;                       ///< when the head read it, in its monotonic seconds; hosts' clocks may differ

  Json to_json() const;
  bool succeeded() const { return verdict() == 0; }
  bool stopped_on_request() const { return verdict() == 75; }
  bool failed() const { return !succeeded() && !stopped_on_request(); }
  /// Whether another generation may fare better: as the program said, else not after a code that
  /// the user must mend, nor after a mistake in a Python program's text in its first 5 min. Later
  /// such an exception may be of what handles a rare fault.
  bool worth_retrying() const;
  /// Whether it ended as ranks do that lost another: MPI aborts them or faults in them, or they
  /// write to a proxy that is gone.
  bool may_be_consequence() const;
  /// As a shell would say it: 128 + signal, 1 for a lost rank.
  int code() const;
  /// One line for people: its own error line, or what ended it, where, at which step and by which
  /// exception.
  std::string description() const;
  /// "exit code 3", "signal 9 (SIGKILL)".
  std::string how_it_ended() const;

 private:
  std::optional<int> verdict() const { return outcome.exit_code ? outcome.exit_code : exit_code; }
};

std::optional<ExitRecord> read_exit_record(const std::string& path, int rank);

/// "SIGKILL" and the like.
std::string signal_name(int signal);

/// The last line among the bytes from `offset` on that begins with `trainer: error:` or `agent:
/// error:`, 4 KiB at most.
std::optional<std::string> last_error_line(const std::string& path, uint64_t offset);

/// The record that explains a failure. First choice: the first record, in the order in which the
/// head saw them, that ended neither well nor on request. Records of one host that were seen in one
/// look are ordered by that host's clock. The first record gives way, unless it said why or was
/// ended by SIGKILL, to a failed one that said why within a second of it. Where its end may be the
/// consequence of another's (may_be_consequence), it also gives way to any record that cannot be a
/// consequence and that said why or was ended by a signal.
const ExitRecord* first_failure(const std::vector<ExitRecord>& records);

}  // namespace trainyard
