// How far a long piece of work is: a bar on a terminal, now and then a line elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace trainyard {

/// Writes to stderr. One thread at a time.
class ProgressLine {
 public:
  enum class Unit { bytes, images };
  explicit ProgressLine(bool terminal) : terminal_(terminal) {}
  /// `what` begins a new line when it changes. total: -1 if it is not known.
  void show(const std::string& what, Unit unit, int64_t done, int64_t total);
  /// Ends the line that is being rewritten, if there is one, so that something else can be printed.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  const bool terminal_;
  std::string what_;
  bool open_ = false;
  bool finished_ = false;
  int64_t first_ = 0;  ///< done when it began: what was there already took no time
  Clock::time_point begin_;
  Clock::time_point shown_;
};

}  // namespace trainyard
