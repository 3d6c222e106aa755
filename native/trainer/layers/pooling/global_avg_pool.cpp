// The mean over all pixels, and with it the way from blocked layouts to plain vectors.
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class GlobalAvgPoolStage final : public Stage {
 public:
  GlobalAvgPoolStage(const Layer& layer, std::unique_ptr<GlobalAvgPoolOp> op)
      : x_value_(layer.inputs()[0]), y_value_(layer.output), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    y_ = planner.make_activation(y_value_);
  }

  void plan_backward(Planner& planner) override {
    dy_ = planner.take_gradients(y_value_, 1)[0];
    dx_ = planner.keep(planner.desc(x_value_).bytes());
    planner.give_gradient(x_value_, dx_);
  }

  void forward(const Run& run) override { op_->forward(run.at(x_), run.at(y_)); }
  void backward(const Run& run) override { op_->backward(run.at(dy_), run.at(dx_)); }

 private:
  ValueId x_value_;
  ValueId y_value_;
  std::unique_ptr<GlobalAvgPoolOp> op_;
  Slot x_, dx_;  // [n, c, h, w]
  Slot y_, dy_;  // [n, c, 1, 1]
};

class GlobalAvgPoolLayer final : public Layer {
 public:
  GlobalAvgPoolLayer(const std::string& name, ValueId x, int channels) : Layer(name, {x}), channels_(channels) {}
  std::string op() const override { return "GlobalAvgPool"; }
  Shape output_shape() const override { return {1, channels_, 1, 1}; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend& backend, const Purpose&) const override {
    auto op = backend.make_global_avg_pool(planner.desc(inputs()[0]));
    planner.set_desc(output, op->output());
    return std::make_unique<GlobalAvgPoolStage>(*this, std::move(op));
  }

 private:
  int channels_;
};

}  // namespace

ValueId global_avg_pool(Graph& graph, const std::string& name, ValueId x) {
  return graph.add(std::make_unique<GlobalAvgPoolLayer>(name, x, graph.shape(x).c));
}

}  // namespace trainyard
