// --tune: cuDNN's plans, and our kernels in their place, chosen by the time that they take, once for
// each kind of device.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trainer/ops/cuda/library/cudnn/plan_chooser.h"
#include "trainer/ops/plans/plan_file.h"

namespace trainyard {

class TimedPlans final : public PlanChooser {
 public:
  /// most: candidates to compare. name: of this way to choose; choices of another name are not
  /// taken. folder: where choices are kept, "" for nowhere. say: for lines about what cannot be
  /// kept.
  TimedPlans(std::string name, size_t most, std::string folder, PlanFile::Say say);

  size_t most_candidates() const override { return most_; }
  std::string chosen(const PlanQuestion& question) override;
  /// The fastest; a later candidate only where it takes 2 % less than the best before it, so that
  /// what is as fast stays with cuDNN's order. Where none can be measured the first, which is not
  /// kept.
  size_t choose(const PlanQuestion& question, const std::vector<std::string>& candidates,
                const PlanTimer& milliseconds) override;

  /// "12 choices of a convolution's kernel (cuDNN's plan of a pass, or our kernel in its place) were
  /// made by time in 3.4 s, 57 as they were made before (FILE)". Counts works: the passes of
  /// different convolutions, and those for which we have kernels too a second time.
  std::string summary() const;

 private:
  PlanFile& file_of(const PlanQuestion& question);
  std::string work_of(const PlanQuestion& question) const { return name_ + " " + question.work; }
  size_t fastest(PlanFile& file, const std::string& work, const std::vector<std::string>& candidates,
                 const PlanTimer& milliseconds);

  std::string name_;
  size_t most_;
  std::string folder_;
  PlanFile::Say say_;
  std::map<std::string, std::unique_ptr<PlanFile>> files_;  ///< by device and library
  std::set<std::string> timed_, remembered_, not_timed_;    ///< works: a network asks for some many times
  double seconds_ = 0;
};

/// none, fast and full.
std::vector<std::string> tune_names();
/// What "" means for a device: fast on a GPU, none elsewhere; other names as they are.
std::string tune_on(const std::string& tune, const std::string& device);
/// Throws Error(Exit::usage) where a device has nothing to choose from.
void check_tune(const std::string& tune, const std::string& device);
/// nullptr for none. Lines go to stderr; choices are kept below $XDG_CACHE_HOME, or ~/.cache.
std::unique_ptr<TimedPlans> make_timed_plans(const std::string& tune);

}  // namespace trainyard
