// Follows what the own program of a run reports, in a process of its own: the disk with its files
// may hang, and the supervisor goes on.
#pragma once
#include <memory>
#include <string>

#include "agent/messages/frames.h"
#include "agent/reports/collector.h"
#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"
#include "common/files.h"

namespace trainyard {

class Reports {
 public:
  using Notice = Collector::Notice;

  /// Of the run on its head.
  Reports(const RunFolder& folder, const RunSpec& spec);
  /// Of what an own program writes into this node's part of the run folder. `prefix`: as of Collector.
  Reports(const RunFolder& folder, const std::string& prefix);
  ~Reports();
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  /// Starts the process where the run is of an own program, before the generation's ranks start.
  /// Never throws, never waits.
  void begin(int generation);
  /// Takes what the process has to say, and starts it again when it ended by itself.
  void look(const Notice& notice);
  /// Lets it read what is left, and lets it end.
  void close();
  /// Whether it has ended since. After 5 s it is ended.
  bool is_over(const Notice& notice);
  /// Waits for that.
  void finish(const Notice& notice);
  /// The process, which is none of the run's; -1 while there is none.
  int pid() const { return pid_; }

 private:
  void start();
  void tell_generation();
  bool take(const Notice& notice);

  RunFolder folder_;
  std::string logdir_, prefix_;
  bool wanted_;
  double began_;
  int generation_ = 0;
  int pid_ = -1;
  double next_start_ = 0;  ///< monotonic seconds
  double last_ = 0;        ///< monotonic seconds: when it is ended
  Descriptor orders_, notices_;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace trainyard
