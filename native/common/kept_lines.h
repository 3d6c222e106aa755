// Lines on their way to a file whose disk may be full or read-only for a while.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace trainyard {

/// What was given up because more had to be kept than the limit allows.
struct LostLines {
  int64_t lines = 0;
  double from = 0;  ///< time of the first of these lines, in seconds since the epoch
  double to = 0;    ///< and of the last
};

/// Lines are written in the order of append(), each by one write to a file that is opened anew (it
/// may be on a server that came back). What cannot be written stays in memory, up to a limit. Over
/// the limit the oldest line goes, and a line that declares the gap is written before those that
/// stayed.
class KeptLines {
 public:
  /// limit: bytes of lines that are kept at most. gap: makes the line that declares what was given
  /// up.
  KeptLines(std::string path, size_t limit, std::function<std::string(const LostLines&)> gap)
      : path_(std::move(path)), limit_(limit), gap_(std::move(gap)) {}

  /// Keeps the line, which has no newline. time: seconds since the epoch. lasting: it goes only
  /// after all others.
  void append(std::string line, double time, bool lasting = false);
  /// Writes what is kept as far as the disk takes it. True when nothing is left.
  bool flush();

  /// Lines that wait to be written.
  size_t waiting() const { return lines_.size(); }
  /// Lines that were given up and are not declared yet.
  int64_t lost() const { return lost_.lines; }
  /// Why the last flush() left something.
  const std::string& error() const { return error_; }

 private:
  struct Line {
    std::string text;
    double time;
    bool lasting;
  };
  void give_up_oldest();

  std::string path_;
  size_t limit_;
  std::function<std::string(const LostLines&)> gap_;
  std::deque<Line> lines_;
  size_t bytes_ = 0;
  LostLines lost_;
  std::string error_;
};

}  // namespace trainyard
