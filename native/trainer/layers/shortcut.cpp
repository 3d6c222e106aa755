// The shortcut without parameters.
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class ShortcutStage final : public Stage {
 public:
  ShortcutStage(const Layer& layer, std::unique_ptr<ShortcutOp> op)
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
  std::unique_ptr<ShortcutOp> op_;
  Slot x_, dx_;  // [n, in, h, w]
  Slot y_, dy_;  // [n, out, ceil(h/stride), ceil(w/stride)]
};

class ShortcutLayer final : public Layer {
 public:
  ShortcutLayer(const std::string& name, ValueId x, const Shape& in, int out, int stride)
      : Layer(name, {x}), in_(in), out_(out), stride_(stride) {}
  std::string op() const override { return "Shortcut"; }
  Shape output_shape() const override { return {1, out_, (in_.h - 1) / stride_ + 1, (in_.w - 1) / stride_ + 1}; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend& backend, const Purpose&) const override {
    auto op = backend.make_shortcut(planner.desc(inputs()[0]), out_, stride_);
    planner.set_desc(output, op->output());
    return std::make_unique<ShortcutStage>(*this, std::move(op));
  }

 private:
  Shape in_;  // [1, in, h, w]
  int out_, stride_;
};

}  // namespace

ValueId shortcut(Graph& graph, const std::string& name, ValueId x, int out, int stride) {
  return graph.add(std::make_unique<ShortcutLayer>(name, x, graph.shape(x), out, stride));
}

}  // namespace trainyard
