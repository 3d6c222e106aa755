// logs/NAME.times: how large a log was, and when (docs/contracts/files.md). Programs write their
// logs by themselves, so the times are those of looks at the log's size.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"
#include "common/files.h"

namespace trainyard {

/// A line of the file.
struct LogTime {
  uint64_t size = 0;         ///< of the log, in bytes
  int64_t milliseconds = 0;  ///< since the epoch; 0: nobody knows when it grew so far
};

/// Nothing for what is no such line.
std::optional<LogTime> log_time(const Json& line);
/// Nothing for a line that is torn.
std::optional<LogTime> parse_log_time(std::string_view line);

/// Size in bytes; 0 for a log that is not there.
uint64_t log_size(const std::string& path);

/// The file of times itself. A disk that takes no line costs that line alone: times never stop a
/// run.
class LogTimeFile {
 public:
  /// Makes the file. What the log holds beyond the file's last line has the log's own time of
  /// change; without any line it has none.
  LogTimeFile(const RunFolder& folder, const std::string& log);
  void append(LogTime time);
  uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  std::optional<LineFile> file_;
  uint64_t bytes_ = 0;
};

/// Watches a log for as long as the program that writes it lives.
class LogTimes {
 public:
  /// Before the program starts. Makes the log, since what is not there cannot be watched.
  LogTimes(const RunFolder& folder, const std::string& log);

  /// Writes down a size that is new, where the last look was long enough ago.
  void look();
  /// The same, however short ago it was: the program has ended.
  void look_once_more();
  /// Readable when the log has grown; -1 while that is known, or the system has no watch to spare.
  int fd() const { return grown_ ? -1 : watch_.get(); }
  /// Milliseconds until a look is due, whatever the descriptor says.
  int patience_ms() const;

 private:
  void take_events();
  double period() const;

  std::string log_;
  Descriptor watch_;
  LogTimeFile file_;
  uint64_t known_ = 0;
  bool grown_ = false;  ///< since the last look
  double looked_ = 0;   ///< monotonic seconds
};

}  // namespace trainyard
