// An optimizer whose weights, gradients and memory are a device's.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/device_group.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

/// Averages of weights and running statistics on the host, laid out as those.
struct Averages {
  std::span<float> weights;
  std::span<float> statistics;
};

/// The host has copies of weights and state(), which are up to date after fetch() alone, and of
/// gradients, after fetch_gradients().
class DeviceOptimizer {
 public:
  virtual ~DeviceOptimizer() = default;
  /// The host's copies of what is remembered of each weight.
  virtual std::vector<OptimizerState> state() = 0;
  /// After the host wrote to those.
  virtual void state_changed() = 0;
  /// Weights, running statistics and state, to the host.
  virtual void fetch() = 0;
  /// To the host: for who looks for one that is not finite.
  virtual void fetch_gradients() = 0;

  /// Keeps the gradients of a micro-batch: the first of a step, or added to those kept.
  virtual void keep_gradients(bool first) = 0;
  /// Adds what was kept to gradients [begin, end), which are final.
  virtual void add_kept(size_t begin, size_t end) = 0;

  /// Divides gradients of a scaled loss by the scale. Returns whether all are finite then.
  virtual bool unscale(float scale) = 0;
  /// As clip_to_length().
  virtual double clip(double limit) = 0;
  /// Whether weights and running statistics are finite numbers where they are. Their squares are
  /// summed there, and one number a tensor comes to the host, which waits for it.
  virtual bool is_finite() = 0;
  /// As Optimizer::step.
  virtual void step(float lr, int64_t number) = 0;

  /// Keeps the running statistics as they are now, in the device's memory.
  virtual void keep_statistics() = 0;
  /// Makes the running statistics what was kept.
  virtual void take_statistics_back() = 0;

  /// Moves the averages of weights and running statistics towards these: average = decay * average
  /// + (1 - decay) * value. 0 makes them copies, and is the first call.
  virtual void average(double decay) = 0;
  /// The host's copies of the averages.
  virtual Averages averages() = 0;
  /// The averages, to the host.
  virtual void fetch_averages() = 0;
  /// After the host wrote to those.
  virtual void averages_changed() = 0;

  /// The id of a group that is to be, for one rank to give to the others.
  virtual DeviceGroupId new_group_id() = 0;
  /// Joins the other ranks' devices; what follows is for members alone, all of them in the same
  /// order.
  virtual void join(const DeviceGroup& group) = 0;
  /// Starts the sum over the group of gradients [begin, end), which are final.
  virtual void start_sum(size_t begin, size_t end) = 0;
  /// What comes now sees the sums.
  virtual void wait_for_sums() = 0;
  /// Makes the weights and state() on rank 0's host those of every rank, on its host and its
  /// device.
  virtual void share() = 0;
  /// See DeviceCollectives.
  virtual double take_waited_ms() = 0;
};

/// Makes a network's training stay on its device from now on: gradients are not copied to the host
/// any more. nullptr where they are the host's anyway. suffixes: of the optimizer's state, in its
/// order. ranges: with decay filled in.
using DeviceOptimizerMaker =
    std::function<DeviceOptimizer*(const OptimizerOptions& options, const std::vector<ParameterRange>& ranges,
                                   const std::vector<std::string>& suffixes)>;

}  // namespace trainyard
