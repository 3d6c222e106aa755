// The optimizer of a network whose memory is not the host's.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "trainer/models/memory/arena.h"
#include "trainer/optim/device_optimizer.h"

namespace trainyard {

/// What of a network is trained, and by which ops.
struct TrainedParts {
  Arena& weights;
  Arena& gradients;
  Arena& statistics;                         ///< running ones
  std::unique_ptr<UpdateOp> update;          ///< of the weights
  std::unique_ptr<UpdateOp> statistic_sums;  ///< over the statistics; nullptr where there are none
};

class NetworkOptimizer final : public DeviceOptimizer {
 public:
  /// changed: called after every update of the weights.
  NetworkOptimizer(TrainedParts parts, Backend& backend, const std::vector<std::string>& suffixes,
                   std::function<void()> changed);
  /// While an error passes, the group is left first: freeing memory would wait for other ranks.
  ~NetworkOptimizer() override;
  NetworkOptimizer(const NetworkOptimizer&) = delete;
  NetworkOptimizer& operator=(const NetworkOptimizer&) = delete;

  std::vector<OptimizerState> state() override;
  void state_changed() override;
  void fetch() override;
  void fetch_gradients() override { gradients_.to_host(); }
  void keep_gradients(bool first) override;
  void add_kept(size_t begin, size_t end) override;
  bool unscale(float scale) override;
  double clip(double limit) override;
  bool is_finite() override;
  void step(float lr, int64_t number) override;
  void keep_statistics() override;
  void take_statistics_back() override;
  void average(double decay) override;
  Averages averages() override;
  void fetch_averages() override;
  void averages_changed() override;
  DeviceGroupId new_group_id() override { return backend_.new_group_id(); }
  void join(const DeviceGroup& group) override;
  bool in_group() const { return collectives_ != nullptr; }
  /// See DeviceCollectives. In a group.
  void sum(double* values, size_t count) { collectives_->sum(values, count); }
  void start_sum(size_t begin, size_t end) override;
  void wait_for_sums() override { collectives_->wait(); }
  void share() override;
  double take_waited_ms() override { return collectives_->take_waited_ms(); }
  /// On the device.
  size_t bytes() const;

 private:
  struct Remembered {
    std::string suffix;
    std::unique_ptr<Arena> values;
  };
  /// Makes the averages' memory when it is first needed.
  void need_averages();
  float* remembered(size_t i) { return i < state_.size() ? state_[i].values->device() : nullptr; }

  std::unique_ptr<UpdateOp> update_, statistic_sums_;
  Backend& backend_;
  Arena& weights_;
  Arena& gradients_;
  Arena& statistics_;
  std::vector<Remembered> state_;
  std::unique_ptr<Arena> kept_statistics_;
  std::unique_ptr<Arena> average_weights_, average_statistics_;
  std::unique_ptr<BackendMemory> kept_;  ///< of micro-batches; made when first needed
  std::function<void()> changed_;
  DeviceCollectives* collectives_ = nullptr;  ///< the back end's, in a group
  std::unique_ptr<SumPlace> sums_;            ///< of the gradients, in a group
  int exceptions_at_start_;
};

}  // namespace trainyard
