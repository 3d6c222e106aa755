// gpus/<host>.jsonl: one figure a second, thinned with age so that a long run's file stays small.
#pragma once
#include <string>

#include "agent/host_sample.h"
#include "agent/run_folder.h"

namespace trainyard {

class SampleLog {
 public:
  explicit SampleLog(const RunFolder& folder);

  /// Appends a line when a second has passed since the last, and thins now and then. Never throws: figures are not
  /// worth a run.
  void tick();

 private:
  std::string path_;
  HostSampler sampler_;
  double next_sample_ = 0;  ///< monotonic seconds
  double next_thinning_;
};

/// Rewrites the file: of lines older than an hour one in 10 s stays, of those older than a day one a minute. Lines
/// whose time cannot be read are left out. `now` in seconds since the epoch. Throws file_error, the old file then
/// untouched.
void thin_samples(const std::string& path, double now);

}  // namespace trainyard
