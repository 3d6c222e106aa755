// From the loader's bytes to the first activation.
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class InputStage final : public Stage {
 public:
  InputStage(ValueId output, std::unique_ptr<InputOp> op) : output_(output), op_(std::move(op)) {}
  void plan_forward(Planner& planner) override { y_ = planner.make_activation(output_); }
  void plan_backward(Planner&) override {}
  void forward(const Run& run) override { op_->forward(run.images, run.count, run.at(y_)); }
  void backward(const Run&) override {}
  void prefetch(const uint8_t* images, int count) override { op_->prefetch(images, count); }

 private:
  ValueId output_;
  std::unique_ptr<InputOp> op_;
  Slot y_;  // [n, 3, size, size]
};

class InputLayer final : public Layer {
 public:
  InputLayer(int size, const std::array<float, 3>& mean, const std::array<float, 3>& std)
      : Layer("input", {}), size_(size), mean_(mean), std_(std) {}
  std::string op() const override { return "Input"; }
  Shape output_shape() const override { return {1, 3, size_, size_}; }

  std::unique_ptr<Stage> compile(const Graph& graph, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    const Layer* consumer = graph.first_consumer(output);
    TensorDesc desc{output_shape(), Layout::nchw, purpose.storage};
    desc.shape.n = purpose.batch;
    if (consumer != nullptr) desc.layout = consumer->preferred_input_layout(backend, purpose);
    planner.set_desc(output, desc);
    return std::make_unique<InputStage>(output, backend.make_input(desc, mean_, std_));
  }

 private:
  int size_;
  std::array<float, 3> mean_;
  std::array<float, 3> std_;
};

}  // namespace

ValueId input(Graph& graph, int size, const std::array<float, 3>& mean, const std::array<float, 3>& std) {
  return graph.add(std::make_unique<InputLayer>(size, mean, std));
}

}  // namespace trainyard
