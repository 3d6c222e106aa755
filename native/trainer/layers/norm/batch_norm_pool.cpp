// Max pooling together with the batch norm and the ReLU before it.
#include "trainer/layers/graph.h"
#include "trainer/layers/norm/normalisation.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class BatchNormPoolStage final : public Stage {
 public:
  BatchNormPoolStage(ValueId y, const Normalisation& norm, const Purpose& purpose, std::unique_ptr<BatchNormPoolOp> op)
      : y_value_(y), norm_(norm), training_(purpose.training), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    x_ = planner.activation(norm_.x);
    y_ = planner.make_activation(y_value_);
    scratch_ = planner.scratch(op_->scratch_bytes());
    if (training_) saved_ = planner.keep(op_->saved_bytes());
  }

  void plan_backward(Planner& planner) override {
    x_ = planner.activation(norm_.x);
    planner.touch(saved_);
    backward_scratch_ = planner.scratch(op_->scratch_bytes());
    const auto gradients = planner.take_gradients(y_value_, 2);
    dy_ = gradients[0];
    if (gradients.size() > 1) more_dy_ = gradients[1];
    dx_ = planner.keep(planner.desc(norm_.x).bytes());
    planner.give_gradient(norm_.x, dx_);
  }

  void forward(const Run& run) override {
    BatchNormPoolOp::Forward args;
    args.x = run.at(x_);
    args.y = run.at(y_);
    args.gamma = run.weights + norm_.weight;
    args.beta = run.weights + norm_.bias;
    args.running_mean = run.statistics + norm_.mean;
    args.running_var = run.statistics + norm_.variance;
    args.scratch = run.at(scratch_);
    if (training_) {
      args.saved = run.at(saved_);
      op_->forward_training(args, run.sum);
    } else {
      op_->forward_inference(args);
    }
  }

  /// The batch norm's parameters; its layer says when its turn comes that they are final.
  void backward(const Run& run) override {
    BatchNormPoolOp::Backward args;
    args.dy = run.at(dy_);
    if (more_dy_.buffer >= 0) args.more_dy = run.at(more_dy_);
    args.x = run.at(x_);
    args.gamma = run.weights + norm_.weight;
    args.saved = run.at(saved_);
    args.dx = run.at(dx_);
    args.dgamma = run.gradients + norm_.weight;
    args.dbeta = run.gradients + norm_.bias;
    args.scratch = run.at(backward_scratch_);
    op_->backward(args, run.sum);
  }

 private:
  ValueId y_value_;
  Normalisation norm_;
  bool training_;
  std::unique_ptr<BatchNormPoolOp> op_;
  Slot x_, dx_;            // [n, c, h, w]
  Slot y_, dy_, more_dy_;  // [n, c, h', w']
  Slot saved_, scratch_, backward_scratch_;
};

}  // namespace

std::unique_ptr<Stage> compile_norm_pool(const Layer& layer, const PoolWindow& window, const Graph& graph,
                                         Planner& planner, Backend& backend, const Purpose& purpose) {
  const ValueId pooled = layer.inputs()[0];
  const Normalisation* norm = graph.producer(pooled).normalisation();
  if (norm == nullptr || !norm->relu || norm->residual >= 0 || !graph.is_read_once(pooled)) return nullptr;
  auto op = backend.make_batch_norm_pool({.input = planner.desc(norm->x),
                                          .kernel = window.kernel,
                                          .stride = window.stride,
                                          .pad = window.pad,
                                          .eps = norm->eps});
  if (op == nullptr) return nullptr;
  planner.take_over(pooled);
  planner.set_desc(layer.output, op->output());
  return std::make_unique<BatchNormPoolStage>(layer.output, *norm, purpose, std::move(op));
}

}  // namespace trainyard
