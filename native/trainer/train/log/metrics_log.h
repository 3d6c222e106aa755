// metrics.jsonl and TensorBoard's event files, written side by side so that they never disagree.
// Any thread may write to them.
#pragma once
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/kept_lines.h"
#include "trainer/models/network.h"
#include "trainer/tfevents/event_writer.h"

namespace trainyard {

/// Seconds for which a run, or its evaluator, waits at its end for a disk that is full.
inline constexpr double kLastLinesSeconds = 10;

class MetricsLog {
 public:
  /// Lines go to <run_dir>/metrics.jsonl, curves to <run_dir>/<curves> ("train" or "eval").
  MetricsLog(const std::string& run_dir, const std::string& curves);
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// Appends {"kind":kind,"time":now,"generation":G, …fields}. A failed write (a full or read-only
  /// disk) is reported once on stderr and does not end training: up to 16 MiB of lines are kept and
  /// written later, in order. What is over that is lost, the oldest first, and a line of kind "gap"
  /// says so.
  void line(const std::string& kind, const nlohmann::json& fields);
  void scalar(const std::string& tag, int64_t step, double value);
  void graph(const Network& network);
  /// Tries again to write what waits.
  void flush();
  /// The last thing in a run: tries for up to `patience` seconds to write what is still kept, and
  /// says on stderr what was not recorded in the end.
  void finish(double patience, const std::function<void()>& alive);

 private:
  template <typename Write>
  void attempt(const Write& write);
  std::string text_of(const std::string& kind, const nlohmann::json& fields) const;
  bool write_lines();
  /// Throws Error where the disk takes no file.
  EventWriter& curves();

  int generation_;
  std::mutex mutex_;  ///< of all below
  KeptLines lines_;
  std::string curves_folder_;
  std::optional<EventWriter> curves_;  ///< once its file could be made
  bool delayed_ = false;               ///< lines wait, and stderr has been told
  bool curves_failed_ = false;
};

}  // namespace trainyard
