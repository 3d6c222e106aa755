// A Network made of a graph and a back end.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "trainer/layers/program.h"
#include "trainer/models/memory/arena.h"
#include "trainer/models/memory/memory_limit.h"
#include "trainer/models/network.h"
#include "trainer/models/network_optimizer.h"
#include "trainer/models/replay.h"

namespace trainyard {

/// Owns the arenas and the programs. Where the back end's memory is not the host's, weights() and
/// the rest are copies on the host: weights go to the device in weights_changed(), gradients come
/// back as they become final, running statistics at the end of a step.
class GraphNetwork final : public Network {
 public:
  GraphNetwork(const NetworkOptions& options, std::unique_ptr<Graph> graph, std::unique_ptr<Backend> backend);

  const std::vector<TensorInfo>& parameters() const override { return parameters_; }
  const std::vector<TensorInfo>& statistics() const override { return statistics_; }
  std::vector<GraphNode> graph() const override;
  std::span<float> weights() override { return weights_.host(); }
  std::span<float> gradients() override;
  std::span<float> running_statistics() override { return running_.host(); }
  void weights_changed() override;
  StepResult train_step(const BatchView& batch, float loss_scale, const std::function<void(size_t, size_t)>& ready,
                        const std::function<void()>& meanwhile) override;
  void prefetch(const BatchView& batch) override;
  size_t recorded_graphs() const override { return replay_ ? replay_->graphs() : 0; }
  bool busy() override { return backend_->busy(); }
  void synchronize() override { backend_->synchronize(); }
  void keep_batch() override;
  DeviceOptimizer* train_on_device(const OptimizerOptions& options, const std::vector<ParameterRange>& ranges,
                                   const std::vector<std::string>& suffixes) override;
  StepResult evaluate(const BatchView& batch, std::span<float> logits) override;
  size_t memory_bytes() const override;
  size_t memory_to_come() const override;
  std::optional<MemoryFigures> device_memory() override { return backend_->memory_figures(); }

 private:
  void sum_over_ranks(double* values, size_t count);
  /// Whether statistics over the ranks pass through this rank's host in the midst of a step.
  bool stops_for_statistics() const;
  Run run_for(const BatchView& batch);
  void check(const BatchView& batch) const;
  void take(const BatchView& batch, const Run& run);
  /// Queues forward pass, loss and backward pass on the back end, which may still compute when this
  /// returns.
  void start_step(const BatchView& batch, float loss_scale, const std::function<void(size_t, size_t)>& ready);
  void forward(const Run& run, float loss_scale);
  /// Whether the whole step is launched as a few recorded graphs.
  bool is_recorded() const;
  /// Gives a program the shared activation memory, made larger where needed.
  void bind(Program& program, const Purpose& purpose);
  Purpose training_purpose() const;
  Purpose inference_purpose() const;
  void make_inference();
  std::vector<ParameterRange> statistic_ranges() const;
  /// What is left for a program; nothing where nobody knows.
  std::optional<MemoryLimit> memory_limit(const Purpose& purpose);
  /// Throws Error(Exit::device), and names the batch that would fit, when a tensor has more elements
  /// than the back end takes. Before the program is made.
  void require_elements(const Purpose& purpose);
  /// Throws Error(Exit::device), and names the batch that the plan says would fit, when less
  /// memory is left.
  void require_memory(size_t bytes, const Purpose& purpose);

  NetworkOptions options_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Backend> backend_;
  std::vector<TensorInfo> parameters_;
  std::vector<TensorInfo> statistics_;
  Arena weights_, running_;
  std::optional<Arena> gradients_;              // for training
  std::vector<double> statistics_copy_;         // on the host, while they are summed over the ranks
  std::unique_ptr<BackendMemory> activations_;  // shared by both programs, which never hold anything between two calls
  std::unique_ptr<BackendMemory> first_image_;  // the number of a batch's first image
  // Whether the input's activations are those of the newest training step. They live from a step's
  // first op to its last one, so no other op of a step writes there.
  bool batch_there_ = false;
  bool batch_kept_ = false;                                     // see keep_batch()
  bool mixed_ = false;                                          // whether the newest batch was of mixtures
  std::vector<std::unique_ptr<SoftmaxCrossEntropyOp>> losses_;  // of the logits, then of the auxiliary heads
  std::unique_ptr<SoftmaxCrossEntropyOp> evaluation_loss_;
  std::unique_ptr<Program> training_;
  std::unique_ptr<Program> inference_;  // made with training_, or when first asked for
  size_t statistic_sums_ = 0;           // over the ranks, by ops that were launched one by one
  // Where training stays on the device. It leaves the group before memory is freed when an error
  // passes.
  std::unique_ptr<NetworkOptimizer> optimizer_;
  // Where a step's ops may be recorded. Last: a group is left when nothing recorded sums in it.
  std::optional<Replay> replay_;
};

}  // namespace trainyard
