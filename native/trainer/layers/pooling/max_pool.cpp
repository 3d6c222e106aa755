// Max pooling.
#include "trainer/layers/layers.h"
#include "trainer/layers/norm/normalisation.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class MaxPoolStage final : public Stage {
 public:
  MaxPoolStage(const Layer& layer, std::unique_ptr<MaxPoolOp> op)
      : x_value_(layer.inputs()[0]), y_value_(layer.output), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    y_ = planner.make_activation(y_value_);
    workspace_ = planner.keep(op_->workspace_bytes());
    scratch_ = planner.scratch(op_->scratch_bytes());
  }

  void plan_backward(Planner& planner) override {
    planner.touch(workspace_);
    dy_ = planner.take_gradients(y_value_, 1)[0];
    dx_ = planner.keep(planner.desc(x_value_).bytes());
    backward_scratch_ = planner.scratch(op_->scratch_bytes());
    planner.give_gradient(x_value_, dx_);
  }

  void forward(const Run& run) override { op_->forward(run.at(x_), run.at(y_), run.at(workspace_), run.at(scratch_)); }
  void backward(const Run& run) override {
    op_->backward(run.at(dy_), run.at(workspace_), run.at(dx_), run.at(backward_scratch_));
  }

 private:
  ValueId x_value_;
  ValueId y_value_;
  std::unique_ptr<MaxPoolOp> op_;
  Slot x_, dx_;  // [n, c, h, w]
  Slot y_, dy_;  // [n, c, h', w']
  Slot workspace_, scratch_, backward_scratch_;
};

class MaxPoolLayer final : public Layer {
 public:
  MaxPoolLayer(const std::string& name, ValueId x, const Shape& in, int kernel, int stride, int pad)
      : Layer(name, {x}), in_(in), kernel_(kernel), stride_(stride), pad_(pad) {}
  std::string op() const override { return "MaxPool"; }
  Shape output_shape() const override {
    return {1, in_.c, (in_.h + 2 * pad_ - kernel_) / stride_ + 1, (in_.w + 2 * pad_ - kernel_) / stride_ + 1};
  }

  std::unique_ptr<Stage> compile(const Graph& graph, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    if (auto both = compile_norm_pool(*this, {kernel_, stride_, pad_}, graph, planner, backend, purpose)) return both;
    auto op = backend.make_max_pool({planner.desc(inputs()[0]), kernel_, stride_, pad_, purpose.training});
    planner.set_desc(output, op->output());
    return std::make_unique<MaxPoolStage>(*this, std::move(op));
  }

 private:
  Shape in_;  // [1, c, h, w]
  int kernel_, stride_, pad_;
};

}  // namespace

ValueId max_pool(Graph& graph, const std::string& name, ValueId x, int kernel, int stride, int pad) {
  return graph.add(std::make_unique<MaxPoolLayer>(name, x, graph.shape(x), kernel, stride, pad));
}

}  // namespace trainyard
