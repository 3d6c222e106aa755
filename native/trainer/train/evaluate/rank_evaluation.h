// Evaluations by the ranks of a training, all of them, while it waits (`--eval-on ranks`).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainer/comm/communicator.h"
#include "trainer/train/evaluate/evaluate.h"
#include "trainer/train/log/metrics_log.h"
#include "trainer/train/plan/options.h"
#include "trainer/train/plan/plan.h"

namespace trainyard {

struct RankPass {
  Network& network;                    ///< that trains
  DeviceOptimizer* device = nullptr;   ///< where training stays on its device
  std::optional<Averages> averages{};  ///< of rank 0: its checkpoint's model instead of the weights
  int64_t step = 0;                    ///< steps done
  std::function<void()> beat{};        ///< after each batch of this rank
  std::function<bool()> cancelled{};
};

/// What became of an evaluation.
enum class Judged { yes, cancelled, no };

class RankEvaluation {
 public:
  /// Opens the images of --eval-data on every rank. plan: with classes, image sizes and batch,
  /// which evaluations have too. decoders: threads that decode. Images of training's size are
  /// judged in the network that trains and in the memory of its activations. For another size each
  /// rank makes a network of its own, and takes its memory. Throws as open_for_evaluation,
  /// require_same_classes and make_network.
  RankEvaluation(const TrainOptions& options, const TrainPlan& plan, int decoders, Communicator& workers);

  /// Every rank judges its part of the images with the weights and running statistics that rank 0's
  /// checkpoint has. After collect(), where all ranks have its weights. Each rank's own are back
  /// afterwards, bit for bit. Rank 0 writes the line `eval`. Where images cannot be read there is
  /// no result: that is a warning, and training goes on. All ranks call it at the same step, and
  /// return the same.
  Judged run(const RankPass& pass);

  /// Of the network that each rank makes of its own, where it does.
  std::optional<MemoryFigures> device_memory() const;

  /// See TrainLog::finish.
  void finish(const std::function<void()>& alive);

 private:
  EvalSums judge_in_place(const RankPass& pass, bool& failed) const;
  EvalSums judge_elsewhere(const RankPass& pass, bool& failed) const;
  EvalSums judge_own(const RankPass& pass, Network& network, bool& failed) const;

  std::string data_;
  int image_size_;
  int resize_;
  int batch_size_;
  int decoders_;
  Communicator& workers_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Network> network_;  ///< where evaluations have an image size of their own
  std::optional<MetricsLog> log_;     ///< rank 0 only
};

/// Of a rank's device: of the network that trains and, where there is one, of that of its
/// evaluations (memory_of_both). evaluation: nullptr where ranks do not evaluate.
std::optional<MemoryFigures> device_memory(Network& trains, const RankEvaluation* evaluation);

}  // namespace trainyard
