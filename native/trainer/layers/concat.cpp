// Channels of several branches behind one another.
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class ConcatStage final : public Stage {
 public:
  ConcatStage(const Layer& layer, std::unique_ptr<ConcatOp> op)
      : x_values_(layer.inputs()), y_value_(layer.output), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    for (const ValueId value : x_values_) x_.push_back(planner.activation(value));
    y_ = planner.make_activation(y_value_);
  }

  void plan_backward(Planner& planner) override {
    dy_ = planner.take_gradients(y_value_, 1)[0];
    for (const ValueId value : x_values_) {
      dx_.emplace_back();
      if (!planner.wants_gradient(value)) continue;
      dx_.back() = planner.keep(planner.desc(value).bytes());
      planner.give_gradient(value, dx_.back());
    }
  }

  void forward(const Run& run) override {
    std::vector<const void*> parts;
    for (const Slot slot : x_) parts.push_back(run.at(slot));
    op_->forward(parts, run.at(y_));
  }

  void backward(const Run& run) override {
    std::vector<void*> parts;
    for (const Slot slot : dx_) parts.push_back(slot.buffer >= 0 ? run.at(slot) : nullptr);
    op_->backward(run.at(dy_), parts);
  }

 private:
  std::vector<ValueId> x_values_;
  ValueId y_value_;
  std::unique_ptr<ConcatOp> op_;
  std::vector<Slot> x_, dx_;  // by part: [n, c of the part, h, w]
  Slot y_, dy_;               // [n, sum of c, h, w]
};

class ConcatLayer final : public Layer {
 public:
  ConcatLayer(const std::string& name, std::vector<ValueId> parts, const Shape& shape)
      : Layer(name, std::move(parts)), shape_(shape) {}
  std::string op() const override { return "Concat"; }
  Shape output_shape() const override { return shape_; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend& backend, const Purpose&) const override {
    std::vector<TensorDesc> parts;
    for (const ValueId value : inputs()) parts.push_back(planner.desc(value));
    auto op = backend.make_concat(parts);
    planner.set_desc(output, op->output());
    return std::make_unique<ConcatStage>(*this, std::move(op));
  }

 private:
  Shape shape_;  // [1, sum of c, h, w]
};

}  // namespace

ValueId concat(Graph& graph, const std::string& name, const std::vector<ValueId>& parts) {
  Shape shape = graph.shape(parts.front());
  shape.c = 0;
  for (const ValueId part : parts) shape.c += graph.shape(part).c;
  return graph.add(std::make_unique<ConcatLayer>(name, parts, shape));
}

}  // namespace trainyard
