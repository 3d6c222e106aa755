// Who decides which of cuDNN's plans, or which of our kernels, does an operation: the trainer, which
// knows what was chosen before. The library says what there is to choose from, and measures it.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// An operation for which there are several kernels. No text has a tab or a line's end.
struct PlanQuestion {
  std::string device;   ///< "NVIDIA H100 80GB HBM3, 132 multiprocessors"
  std::string library;  ///< "cuDNN 9.19.0"
  std::string work;     ///< all that its time depends on: "forward 64 x 3 x 224 x 224 to 64, …"
};

/// The milliseconds of a candidate on the device, which does nothing else; nothing where it cannot
/// be used.
using PlanTimer = std::function<std::optional<double>(size_t candidate)>;

class PlanChooser {
 public:
  virtual ~PlanChooser() = default;
  /// How many candidates it compares at most.
  virtual size_t most_candidates() const = 0;
  /// The candidate that was chosen for it before; "" for none.
  virtual std::string chosen(const PlanQuestion& question) = 0;
  /// Which of the candidates (one at least; the first is taken where they are as fast) is taken.
  virtual size_t choose(const PlanQuestion& question, const std::vector<std::string>& candidates,
                        const PlanTimer& milliseconds) = 0;
};

}  // namespace trainyard
