// gpus/<host>.jsonl: one figure a second, thinned with age so that a long run's file stays small.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "agent/figures/host_sample.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

/// The file of one host's figures.
class SampleFile {
 public:
  SampleFile(const RunFolder& folder, const std::string& host);
  /// Appends a line and thins now and then. Throws where that fails.
  void append(const std::string& line);

 private:
  std::string path_;
  double next_thinning_;  ///< monotonic seconds
};

class SampleLog {
 public:
  explicit SampleLog(const RunFolder& folder);

  /// Appends a line when a second has passed since the last, and returns it. Never throws: figures
  /// are not worth a run.
  std::optional<std::string> tick();
  /// Free bytes of the run folder's file system; nothing while it gives no answer.
  std::optional<uint64_t> disk_free() { return sampler_.disk_free(); }
  /// The process that asks for the figures, which is none of the run's; -1 while there is none.
  int asker() const { return sampler_.asker(); }

 private:
  void warn(const Json& sample);

  SampleFile file_;
  HostSampler sampler_;
  std::optional<double> asked_;   ///< monotonic seconds: the sample under way
  double next_sample_ = 0;        ///< monotonic seconds
  std::set<std::string> warned_;  ///< what is missing and was said to be
  bool failed_ = false;           ///< said once, until a figure is written again
};

/// Rewrites the file: of lines older than an hour one in 10 s stays, of those older than a day one
/// a minute. Lines whose time cannot be read are left out. `now` in seconds since the epoch. Throws
/// file_error, the old file then untouched.
void thin_samples(const std::string& path, double now);

}  // namespace trainyard
