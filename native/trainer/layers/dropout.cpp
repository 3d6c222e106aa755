// Dropout: in training only.
#include "common/error.h"
#include "trainer/base/name_key.h"
#include "trainer/base/random.h"
#include "trainer/layers/alias_stage.h"
#include "trainer/layers/layers.h"

namespace trainyard {

namespace {

class DropoutStage final : public Stage {
 public:
  DropoutStage(const Layer& layer, std::unique_ptr<DropoutOp> op)
      : x_value_(layer.inputs()[0]), y_value_(layer.output), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    y_ = planner.make_activation(y_value_);
  }

  void plan_backward(Planner& planner) override {
    gradient_ = planner.take_gradients(y_value_, 1)[0];
    if (planner.wants_gradient(x_value_)) planner.give_gradient(x_value_, gradient_);
  }

  void forward(const Run& run) override { op_->run(run.at(x_), run.at(y_), run.first_image); }
  void backward(const Run& run) override { op_->run(run.at(gradient_), run.at(gradient_), run.first_image); }

 private:
  ValueId x_value_;
  ValueId y_value_;
  std::unique_ptr<DropoutOp> op_;
  Slot x_, y_, gradient_;  // all [n, c, 1, 1]
};

class DropoutLayer final : public Layer {
 public:
  DropoutLayer(const std::string& name, ValueId x, const Shape& shape, float rate)
      : Layer(name, {x}), shape_(shape), rate_(rate) {}
  std::string op() const override { return "Dropout"; }
  Shape output_shape() const override { return shape_; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    const TensorDesc& x = planner.desc(inputs()[0]);
    planner.set_desc(output, x);
    const float rate = purpose.dropout.value_or(rate_);
    if (!purpose.training || rate <= 0) return std::make_unique<AliasStage>(*this);
    if (x.layout != Layout::nchw) {
      throw Error(Exit::internal, name() + " follows a layer that does not store its output plainly. Report it.");
    }
    const uint64_t key = Random{purpose.seed, name_key(name())}.next();
    return std::make_unique<DropoutStage>(*this, backend.make_dropout({x, rate, key}));
  }

 private:
  Shape shape_;  // [1, c, 1, 1]
  float rate_;
};

}  // namespace

ValueId dropout(Graph& graph, const std::string& name, ValueId x, float rate) {
  return graph.add(std::make_unique<DropoutLayer>(name, x, graph.shape(x), rate));
}

}  // namespace trainyard
