// Steps whose ops are handed to the device a few hundred at once, where it can keep them.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "trainer/ops/contract/backend.h"

namespace trainyard {

/// The parts of a step: run as they are in the first step, which makes whatever is made when it is
/// first needed; recorded in the second; one call each from then on. Where recording fails, a line
/// on stderr says why, and every part is run as it is.
class Replay {
 public:
  explicit Replay(Backend& backend) : backend_(backend) {}
  /// A step begins, whose ops have `scale` among their arguments: what was recorded with another
  /// one is dropped.
  void begin(float scale);
  /// Part `index` of the step; the parts come in order.
  void run(size_t index, const std::function<void()>& ops);
  /// Whether ops are kept now instead of being run.
  bool recording() const { return recording_; }
  size_t graphs() const { return fails_ ? 0 : recordings_.size(); }
  /// Arguments of ops have changed.
  void forget();

 private:
  void record(const std::function<void()>& ops);

  Backend& backend_;
  std::vector<std::unique_ptr<Recording>> recordings_;  // by part
  float scale_ = 0;
  bool warm_ = false;   // a step was run with these arguments
  bool fails_ = false;  // there is nothing to record by
  bool recording_ = false;
};

}  // namespace trainyard
