// The fully connected layer.
#include <cmath>

#include "common/error.h"
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class LinearStage final : public Stage {
 public:
  LinearStage(const Layer& layer, const LinearParams& params, std::unique_ptr<LinearOp> op)
      : x_value_(layer.inputs()[0]),
        y_value_(layer.output),
        weight_(layer.parameters_begin),
        bias_(weight_ + size_t(params.in) * params.out),
        relu_(params.relu),
        op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    y_ = planner.make_activation(y_value_);
  }

  void plan_backward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    if (relu_) y_ = planner.activation(y_value_);
    dy_ = planner.take_gradients(y_value_, 1)[0];
    if (!planner.wants_gradient(x_value_)) return;
    dx_ = planner.keep(planner.desc(x_value_).bytes());
    planner.give_gradient(x_value_, dx_);
  }

  void forward(const Run& run) override {
    op_->forward(run.at(x_), run.weights + weight_, run.weights + bias_, run.at(y_));
  }

  void backward(const Run& run) override {
    if (relu_) op_->backward_relu(run.at(y_), run.at(dy_));
    op_->backward_weights(run.at(x_), run.at(dy_), run.gradients + weight_, run.gradients + bias_);
    run.gradients_final();
    if (dx_.buffer >= 0) op_->backward_data(run.at(dy_), run.weights + weight_, run.at(dx_));
  }

 private:
  ValueId x_value_;
  ValueId y_value_;
  size_t weight_;  // [out, in]
  size_t bias_;    // [out]
  bool relu_;
  std::unique_ptr<LinearOp> op_;
  Slot x_, dx_;  // [n, in]
  Slot y_, dy_;  // [n, out]
};

class LinearLayer final : public Layer {
 public:
  LinearLayer(const std::string& name, ValueId x, int in, int out, bool relu)
      : Layer(name, {x}), in_(in), out_(out), relu_(relu) {}
  std::string op() const override { return relu_ ? "LinearRelu" : "Linear"; }
  Shape output_shape() const override { return {1, out_, 1, 1}; }

  std::unique_ptr<Stage> compile(const Graph& graph, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    const TensorDesc& in = planner.desc(inputs()[0]);
    if (in.layout != Layout::nchw) {
      throw Error(Exit::internal, name() + " follows a layer that does not store its output plainly. Report it.");
    }
    const bool logits = graph.first_consumer(output) == nullptr;
    const LinearParams params{purpose.batch, in_, out_, relu_, in.dtype, logits ? DType::f32 : in.dtype};
    planner.set_desc(output, {{purpose.batch, out_, 1, 1}, Layout::nchw, params.output});
    return std::make_unique<LinearStage>(*this, params, backend.make_linear(params));
  }

 private:
  int in_, out_;
  bool relu_;
};

}  // namespace

ValueId linear(Graph& graph, const std::string& name, ValueId x, int out, bool relu, double deviation) {
  const int in = graph.shape(x).c;
  const double bound = 1.0 / std::sqrt(double(in));
  graph.add_parameter({name + ".weight",
                       {out, in},
                       0,
                       0,
                       true,
                       deviation > 0 ? Init::normal : Init::uniform,
                       deviation > 0 ? deviation : bound});
  graph.add_parameter({name + ".bias", {out}, 0, 0, false, Init::uniform, bound});
  return graph.add(std::make_unique<LinearLayer>(name, x, in, out, relu));
}

}  // namespace trainyard
