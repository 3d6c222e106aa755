// Whether one of our fused kernels does an operation, or the kernels that do its parts one after the
// other. A fused kernel is taken only where it computed rightly on this device, and with --tune
// only where it takes less time.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/ops/cuda/library/cudnn/plan_chooser.h"

namespace trainyard::cuda {

/// Milliseconds on the device; nothing where they cannot be measured.
using MeasureWork = std::function<std::optional<double>()>;

/// One of our kernels that does a whole operation.
struct FusedCandidate {
  std::string name;    ///< "fused 64x256": differs from the other candidates. No tab, no line's end
  std::string kernel;  ///< "1x1 convolutions with sums, 64 channels, tiles of 64x256": checked once
  /// Runs the kernel on a small example: "" where it computes rightly, otherwise what is wrong.
  std::function<std::string()> check;
  MeasureWork milliseconds;  ///< of all of the work
};

/// Which fused kernels compute rightly on a device. One for each back end.
class FusedChecks {
 public:
  using Say = std::function<void(const std::string& line)>;
  /// device: as a line names it. say: for one line about each kernel that computes wrongly.
  FusedChecks(std::string device, Say say);

  /// Whether it computes rightly. The check runs when a kernel is asked about for the first time.
  bool passes(const FusedCandidate& candidate);

 private:
  std::string device_;
  Say say_;
  std::map<std::string, bool> passed_;  ///< by FusedCandidate::kernel
};

/// The name that is kept where no fused kernel was chosen.
inline constexpr const char* kApart = "apart";

/// An operation for which there are fused kernels.
struct FusedWork {
  PlanQuestion question;
  MeasureWork apart;  ///< of the kernels that do its parts
  std::vector<FusedCandidate> candidates;
};

/// The candidate that is taken; nothing: none. Without a chooser the first one, where it computes
/// rightly. With one: what was chosen before, or else the fastest of `apart` and of the candidates
/// that compute rightly. `apart` is the first there, so it stays where nothing can be measured.
std::optional<size_t> choose_fused(PlanChooser* chooser, FusedChecks& checks, const FusedWork& work);

}  // namespace trainyard::cuda
