// metrics.jsonl and TensorBoard's event files, written side by side so that they never disagree.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/models/network.h"
#include "trainer/tfevents/event_writer.h"

namespace trainyard {

class MetricsLog {
 public:
  /// Lines go to <run_dir>/metrics.jsonl, curves to <run_dir>/<curves> ("train" or "eval").
  MetricsLog(const std::string& run_dir, const std::string& curves);

  /// Appends {"kind":kind,"time":now,"generation":G, …fields}. A failed write (full disk) is reported once on stderr
  /// and does not end training; the next line that can be written starts on a line of its own.
  void line(const std::string& kind, const nlohmann::json& fields);
  void scalar(const std::string& tag, int64_t step, double value);
  void graph(const Network& network);
  void flush();

 private:
  template <typename Write>
  void attempt(const Write& write);

  std::string path_;
  int generation_;
  EventWriter events_;
  bool failed_ = false;
};

/// TRAINYARD_GENERATION, 1 when unset.
int generation_from_environment();

}  // namespace trainyard
