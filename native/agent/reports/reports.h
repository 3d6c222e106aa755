// Follows what the own program of a run reports, in a process of its own: the disk with its files
// may hang, and the supervisor goes on.
#pragma once
#include <memory>
#include <string>

#include "agent/messages/frames.h"
#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"
#include "agent/run/journal.h"
#include "common/files.h"

namespace trainyard {

class Reports {
 public:
  Reports(const RunFolder& folder, const RunSpec& spec);
  ~Reports();
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  /// Starts the process where the run is of an own program, before the generation's ranks start.
  /// Never throws, never waits.
  void begin(int generation);
  /// Journals what the process has to say, and starts it again when it ended by itself.
  void look(Journal& journal);
  /// Lets it read what is left, 5 s at most, and ends it.
  void finish(Journal& journal);
  /// The process, which is none of the run's; -1 while there is none.
  int pid() const { return pid_; }

 private:
  void start();
  void tell_generation();
  bool take(Journal& journal);

  RunFolder folder_;
  std::string logdir_;
  bool wanted_;
  double began_;
  int generation_ = 0;
  int pid_ = -1;
  double next_start_ = 0;  ///< monotonic seconds
  Descriptor orders_, notices_;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace trainyard
