// A Network made of a graph and a back end.
#pragma once
#include <memory>
#include <vector>

#include "trainer/layers/program.h"
#include "trainer/models/network.h"

namespace trainyard {

/// Owns the arenas and the programs. The back end's memory must be the host's: weights() and the rest show it as it is.
class GraphNetwork final : public Network {
 public:
  GraphNetwork(const NetworkOptions& options, std::unique_ptr<Graph> graph, std::unique_ptr<Backend> backend);

  const std::vector<TensorInfo>& parameters() const override { return parameters_; }
  const std::vector<TensorInfo>& statistics() const override { return statistics_; }
  std::vector<GraphNode> graph() const override;
  std::span<float> weights() override { return view(*weights_, graph_->parameter_elements()); }
  std::span<float> gradients() override;
  std::span<float> running_statistics() override { return view(*running_, graph_->statistic_elements()); }
  void weights_changed() override;
  StepResult train_step(const BatchView& batch, float loss_scale,
                        const std::function<void(size_t, size_t)>& ready) override;
  StepResult evaluate(const BatchView& batch, std::span<float> logits) override;
  size_t memory_bytes() const override;

 private:
  static std::span<float> view(const BackendMemory& memory, size_t elements) {
    return {reinterpret_cast<float*>(memory.data()), elements};
  }
  Run run_for(const BatchView& batch);
  void check(const BatchView& batch) const;
  /// Gives a program the shared activation memory, made larger where needed.
  void bind(Program& program);

  NetworkOptions options_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Backend> backend_;
  std::vector<TensorInfo> parameters_;
  std::vector<TensorInfo> statistics_;
  std::unique_ptr<BackendMemory> weights_, gradients_, running_;
  std::unique_ptr<BackendMemory> activations_;  // shared by both programs, which never hold anything between two calls
  std::unique_ptr<SoftmaxCrossEntropyOp> loss_;
  std::unique_ptr<Program> training_;
  std::unique_ptr<Program> inference_;  // made when first asked for
};

}  // namespace trainyard
