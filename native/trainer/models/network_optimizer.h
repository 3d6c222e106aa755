// The optimizer of a network whose memory is not the host's.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "trainer/models/arena.h"
#include "trainer/optim/device_optimizer.h"

namespace trainyard {

class NetworkOptimizer final : public DeviceOptimizer {
 public:
  /// changed: called after every update of the weights, fetched: whenever the host is to see them.
  NetworkOptimizer(std::unique_ptr<UpdateOp> update, Backend& backend, Arena& weights, Arena& gradients,
                   const std::vector<std::string>& suffixes, std::function<void()> changed,
                   std::function<void()> fetched);

  std::vector<OptimizerState> state() override;
  void state_changed() override;
  void fetch() override;
  bool unscale(float scale) override;
  double clip(double limit) override;
  void step(float lr, int64_t number) override;
  /// On the device.
  size_t bytes() const;

 private:
  struct Remembered {
    std::string suffix;
    std::unique_ptr<Arena> values;
  };
  float* remembered(size_t i) { return i < state_.size() ? state_[i].values->device() : nullptr; }

  std::unique_ptr<UpdateOp> update_;
  Arena& weights_;
  Arena& gradients_;
  std::vector<Remembered> state_;
  std::function<void()> changed_, fetched_;
};

}  // namespace trainyard
