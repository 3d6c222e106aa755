// Batch norm with the residual add and the ReLU that follow it in every ResNet.
#include "common/error.h"
#include "trainer/layers/layers.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

/// Where a batch norm's numbers lie in the arenas.
struct Offsets {
  size_t weight = 0;
  size_t bias = 0;
  size_t mean = 0;
  size_t variance = 0;
};

class BatchNormStage final : public Stage {
 public:
  BatchNormStage(const Layer& layer, const BatchNormOptions& options, const Offsets& offsets, const Purpose& purpose,
                 std::unique_ptr<BatchNormOp> op)
      : x_value_(layer.inputs()[0]),
        y_value_(layer.output),
        options_(options),
        offsets_(offsets),
        training_(purpose.training),
        op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    if (options_.residual >= 0) residual_ = planner.activation(options_.residual);
    y_ = planner.make_activation(y_value_);
    scratch_ = planner.scratch(op_->scratch_bytes());
    if (training_) saved_ = planner.keep(op_->saved_bytes());
  }

  void plan_backward(Planner& planner) override {
    x_ = planner.activation(x_value_);
    if (options_.residual >= 0 && options_.relu) y_ = planner.activation(y_value_);
    planner.touch(saved_);
    backward_scratch_ = planner.scratch(op_->scratch_bytes());
    const auto gradients = planner.take_gradients(y_value_, 2);
    dy_ = gradients[0];
    if (gradients.size() > 1) more_dy_ = gradients[1];
    if (options_.residual < 0) {
      dx_ = dy_;
    } else {
      // dy itself becomes the residual's gradient.
      dx_ = planner.keep(planner.desc(x_value_).bytes());
      if (planner.wants_gradient(options_.residual)) planner.give_gradient(options_.residual, dy_);
    }
    planner.give_gradient(x_value_, dx_);
  }

  void forward(const Run& run) override {
    BatchNormOp::Forward args;
    args.x = run.at(x_);
    if (residual_.buffer >= 0) args.residual = run.at(residual_);
    args.y = run.at(y_);
    args.gamma = run.weights + offsets_.weight;
    args.beta = run.weights + offsets_.bias;
    args.running_mean = run.statistics + offsets_.mean;
    args.running_var = run.statistics + offsets_.variance;
    args.scratch = run.at(scratch_);
    if (training_) {
      args.saved = run.at(saved_);
      op_->forward_training(args, run.sum);
    } else {
      op_->forward_inference(args);
    }
  }

  void backward(const Run& run) override {
    BatchNormOp::Backward args;
    args.dy = run.at(dy_);
    if (more_dy_.buffer >= 0) args.more_dy = run.at(more_dy_);
    args.x = run.at(x_);
    args.y = run.at(y_);
    args.gamma = run.weights + offsets_.weight;
    args.beta = run.weights + offsets_.bias;
    args.saved = run.at(saved_);
    args.dx = run.at(dx_);
    args.dgamma = run.gradients + offsets_.weight;
    args.dbeta = run.gradients + offsets_.bias;
    args.scratch = run.at(backward_scratch_);
    op_->backward(args, run.sum);
    run.gradients_final();
  }

 private:
  ValueId x_value_;
  ValueId y_value_;
  BatchNormOptions options_;
  Offsets offsets_;
  bool training_;
  std::unique_ptr<BatchNormOp> op_;
  Slot x_, residual_, y_, dx_, dy_, more_dy_;  // all [n, c, h, w]
  Slot saved_, scratch_, backward_scratch_;
};

class BatchNormLayer final : public Layer {
 public:
  BatchNormLayer(const std::string& name, std::vector<ValueId> inputs, const Shape& shape,
                 const BatchNormOptions& options, const Offsets& offsets)
      : Layer(name, std::move(inputs)), shape_(shape), options_(options), offsets_(offsets) {}

  std::string op() const override {
    return std::string("BatchNorm") + (options_.residual >= 0 ? "Add" : "") + (options_.relu ? "Relu" : "");
  }
  Shape output_shape() const override { return shape_; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    BatchNormParams params;
    params.input = planner.desc(inputs()[0]);
    params.residual = options_.residual >= 0;
    params.relu = options_.relu;
    params.eps = options_.eps;
    if (params.residual && planner.desc(options_.residual) != params.input) {
      throw Error(Exit::internal, name() + " adds tensors of different layouts. Report it.");
    }
    planner.set_desc(output, params.input);
    return std::make_unique<BatchNormStage>(*this, options_, offsets_, purpose, backend.make_batch_norm(params));
  }

 private:
  Shape shape_;  // [1, c, h, w]
  BatchNormOptions options_;
  Offsets offsets_;
};

}  // namespace

ValueId batch_norm(Graph& graph, const std::string& name, ValueId x, const BatchNormOptions& options) {
  const Shape shape = graph.shape(x);
  const auto per_channel = [&](const char* suffix, Init init) {
    return Parameter{name + suffix, {shape.c}, 0, 0, false, init, 0};
  };
  Offsets offsets;
  offsets.weight = graph.add_parameter(per_channel(".weight", Init::ones));
  offsets.bias = graph.add_parameter(per_channel(".bias", Init::zeros));
  offsets.mean = graph.add_statistic(per_channel(".running_mean", Init::zeros));
  offsets.variance = graph.add_statistic(per_channel(".running_var", Init::ones));
  std::vector<ValueId> inputs{x};
  if (options.residual >= 0) inputs.push_back(options.residual);
  return graph.add(std::make_unique<BatchNormLayer>(name, std::move(inputs), shape, options, offsets));
}

}  // namespace trainyard
