// A layer that gives its input another name and moves nothing.
#pragma once
#include "trainer/layers/planner.h"

namespace trainyard {

class AliasStage final : public Stage {
 public:
  explicit AliasStage(const Layer& layer) : x_value_(layer.inputs()[0]), y_value_(layer.output) {}
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

}  // namespace trainyard
