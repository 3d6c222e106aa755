// A network on the CUDA back end's arithmetic with a worker's part of a strategy, one step after
// the other.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/models/support.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/comm/communicator.h"
#include "trainer/models/builders.h"
#include "trainer/models/graph_network.h"
#include "trainer/strategies/mirrored.h"

namespace trainyard::test {

struct TraineeOptions {
  std::string model = "resnet20";
  int classes = 5;
  int size = 8;
  int batch = 4;  ///< of each worker
  uint64_t seed = 1;
  OptimizerOptions optimizer{};
  bool on_device = true;           ///< gradients may stay there
  HostGroups groups{};             ///< how the workers' devices sum among themselves, if they can
  HostTraffic* traffic = nullptr;  ///< counted, if somebody asks
  StrategyMaker make = make_mirrored;
};

class Trainee {
 public:
  Trainee(std::shared_ptr<Communicator> workers, const TraineeOptions& wanted)
      : workers_(std::move(workers)), wanted_(wanted) {
    NetworkOptions options;
    options.model = wanted.model;
    options.classes = wanted.classes;
    options.image_size = wanted.size;
    options.batch = wanted.batch;
    options.seed = wanted.seed;
    network_ = std::make_unique<GraphNetwork>(options, build_model(wanted.model, wanted.size, wanted.classes),
                                              make_host_cuda_in(wanted.groups, wanted.traffic));
    Variables variables{network_->weights(), network_->gradients(), {}};
    for (const TensorInfo& tensor : network_->parameters()) {
      variables.ranges.push_back({.offset = tensor.offset, .size = tensor.size, .adapt = tensor.decay});
    }
    if (wanted.on_device) {
      variables.on_device = [this](const OptimizerOptions& of, const std::vector<ParameterRange>& ranges,
                                   const std::vector<std::string>& suffixes) {
        return device_ = network_->train_on_device(of, ranges, suffixes);
      };
    }
    variables.device_sums = static_cast<bool>(wanted.groups.join);
    strategy_ = wanted.make(*workers_, variables, wanted.optimizer);
    share();
  }
  // What it made keeps its address.
  Trainee(const Trainee&) = delete;
  Trainee& operator=(const Trainee&) = delete;

  /// Rank 0's weights become everyone's.
  void share() {
    strategy_->distribute();
    network_->weights_changed();
  }

  /// Forward and backward of update `number`'s own images, in so many micro-batches, and the sums
  /// over the workers.
  void gradients(int64_t number, float scale = 1, int micro = 1) {
    const int world = workers_->world();
    for (int part = 0; part < micro; ++part) {
      const RandomBatch batch(wanted_.batch * world, wanted_.size, wanted_.classes,
                              static_cast<uint64_t>(number * micro + part));
      std::function<void(size_t, size_t)> ready;
      if (part + 1 == micro) {
        ready = [this, micro](size_t begin, size_t end) {
          if (micro > 1) add_kept(begin, end);
          strategy_->ready(begin);
        };
      }
      network_->train_step(batch.part(wanted_.batch * workers_->rank(), wanted_.batch),
                           scale / static_cast<float>(wanted_.batch * world * micro), ready);
      if (!ready) keep(part == 0);
    }
    StepSums sums{.images = static_cast<double>(wanted_.batch)};
    strategy_->sum(sums);
    images_ = sums.images;
  }
  /// Returns the gradient's length before clipping.
  double apply(int64_t number, double clip = 0) {
    StepSums sums;
    const double norm = strategy_->apply({.number = number, .lr = 0.05F, .clip_norm = clip}, sums);
    if (device_ == nullptr) network_->weights_changed();
    return norm;
  }
  double step(int64_t number, double clip = 0) {
    gradients(number);
    return apply(number, clip);
  }

  Network& network() { return *network_; }
  Strategy& strategy() { return *strategy_; }
  /// nullptr where training comes to the host.
  DeviceOptimizer* device() { return device_; }
  /// Weights and state(), to the host.
  void fetch() { device_ != nullptr ? device_->fetch() : strategy_->collect(); }
  /// Of all workers, in the last step.
  double images() const { return images_; }

 private:
  /// Micro-batches, added up where the gradients are.
  void keep(bool first) {
    if (device_ != nullptr) return device_->keep_gradients(first);
    kept_.resize(network_->gradients().size());
    for (size_t i = 0; i < kept_.size(); ++i) kept_[i] = (first ? 0.0F : kept_[i]) + network_->gradients()[i];
  }
  void add_kept(size_t begin, size_t end) {
    if (device_ != nullptr) return device_->add_kept(begin, end);
    for (size_t i = begin; i < end; ++i) network_->gradients()[i] += kept_[i];
  }

  std::shared_ptr<Communicator> workers_;
  TraineeOptions wanted_;
  std::unique_ptr<Network> network_;
  DeviceOptimizer* device_ = nullptr;
  std::unique_ptr<Strategy> strategy_;
  std::vector<float> kept_;  ///< on the host
  double images_ = 0;
};

}  // namespace trainyard::test
