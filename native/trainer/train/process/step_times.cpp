#include "trainer/train/process/step_times.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trainyard {
namespace {

/// Of [count] values, at least one; the mean of the two in the middle where the count is even.
double median(std::vector<double> values) {
  const size_t upper = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(upper), values.end());
  if (values.size() % 2 == 1) return values[upper];
  return (values[upper] + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(upper))) / 2;
}

}  // namespace

void StepTimes::add(const StepTime& step) {
  if (steps_.size() < most) {
    steps_.push_back(step);
    return;
  }
  steps_[next_] = step;
  next_ = (next_ + 1) % most;
}

void StepTimes::restart() {
  steps_.clear();
  next_ = 0;
}

void StepTimes::fill(RankFigures& figures) const {
  figures.steps = static_cast<double>(steps_.size());
  if (steps_.empty()) return;
  std::vector<double> compute, comm, input;
  for (const StepTime& step : steps_) {
    compute.push_back(std::max(0.0, step.whole_ms - step.comm_ms - step.input_wait_ms));
    comm.push_back(step.comm_ms);
    input.push_back(step.input_wait_ms);
  }
  figures.compute_ms = median(std::move(compute));
  figures.comm_ms = median(std::move(comm));
  figures.input_wait_ms = median(std::move(input));
}

}  // namespace trainyard
