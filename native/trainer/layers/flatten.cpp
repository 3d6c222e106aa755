// Another name for the same memory.
#include "common/error.h"
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class FlattenStage final : public Stage {
 public:
  explicit FlattenStage(const Layer& layer) : x_value_(layer.inputs()[0]), y_value_(layer.output) {}
  void plan_forward(Planner& planner) override { planner.alias_activation(y_value_, x_value_); }
  void plan_backward(Planner& planner) override {
    if (planner.wants_gradient(x_value_)) planner.give_gradient(x_value_, planner.take_gradients(y_value_, 1)[0]);
  }
  void forward(const Run&) override {}
  void backward(const Run&) override {}

 private:
  ValueId x_value_;
  ValueId y_value_;
};

class FlattenLayer final : public Layer {
 public:
  FlattenLayer(const std::string& name, ValueId x, int elements) : Layer(name, {x}), elements_(elements) {}
  std::string op() const override { return "Flatten"; }
  Shape output_shape() const override { return {1, elements_, 1, 1}; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend&, const Purpose& purpose) const override {
    const TensorDesc& in = planner.desc(inputs()[0]);
    if (in.layout != Layout::nchw) {
      throw Error(Exit::internal, name() + " follows a layer that does not store its output plainly. Report it.");
    }
    planner.set_desc(output, {{purpose.batch, elements_, 1, 1}, Layout::nchw, in.dtype});
    return std::make_unique<FlattenStage>(*this);
  }

 private:
  int elements_;
};

}  // namespace

ValueId flatten(Graph& graph, const std::string& name, ValueId x) {
  const Shape in = graph.shape(x);
  return graph.add(std::make_unique<FlattenLayer>(name, x, static_cast<int>(in.elements())));
}

}  // namespace trainyard
