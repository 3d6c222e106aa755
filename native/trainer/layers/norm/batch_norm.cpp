// Batch norm with the residual add and the ReLU that follow it in every ResNet.
#include "common/error.h"
#include "trainer/layers/layers.h"
#include "trainer/layers/norm/norm_merger.h"
#include "trainer/layers/norm/normalisation.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class BatchNormStage final : public Stage {
 public:
  /// may_merge: nothing writes to the residual's gradient before the convolution in front has read
  /// it.
  BatchNormStage(ValueId y, const Normalisation& norm, const Purpose& purpose, std::unique_ptr<BatchNormOp> op,
                 bool may_merge)
      : y_value_(y), norm_(norm), training_(purpose.training), may_merge_(may_merge), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    taken_over_ = planner.is_taken_over(y_value_);
    if (taken_over_) return;
    x_ = planner.activation(norm_.x);
    if (norm_.residual >= 0) residual_ = planner.activation(norm_.residual);
    y_ = planner.make_activation(y_value_);
    scratch_ = planner.scratch(op_->scratch_bytes());
    if (training_) sums_ = planner.channel_sums(norm_.x);
    if (!training_) return;
    saved_ = planner.keep(op_->saved_bytes());
    if (!op_->has_mask()) return;
    if (may_merge_ && op_->merges()) merger_ = planner.merger(norm_.x);
    Planner::MaskedNorms norms;
    norms.saved = saved_;
    norms.mask = [this](const void* saved) { return op_->mask(saved); };
    if (norm_.residual >= 0) norms.kind = merger_ != nullptr ? GradientEndKind::mask : GradientEndKind::block;
    if (merger_ == nullptr) norms.x = {norm_.x};
    planner.offer_masked_norms(y_value_, std::move(norms));
  }

  void plan_backward(Planner& planner) override {
    if (taken_over_) return;
    end_sums_ = planner.end_sums(y_value_);
    if (end_sums_.rows == 0) merger_ = nullptr;
    if (merger_ == nullptr) x_ = planner.activation(norm_.x);
    if (norm_.residual >= 0 && norm_.relu) y_ = planner.activation(y_value_);
    planner.touch(saved_);
    backward_scratch_ = planner.scratch(op_->scratch_bytes());
    const auto gradients = planner.take_gradients(y_value_, 2);
    dy_ = gradients[0];
    if (gradients.size() > 1) more_dy_ = gradients[1];
    // dy itself becomes the residual's gradient.
    const bool dx_is_dy = norm_.residual < 0 || merger_ != nullptr;
    dx_ = dx_is_dy ? dy_ : planner.keep(planner.desc(norm_.x).bytes());
    if (merger_ != nullptr) merger_->plan_merge(planner);
    if (norm_.residual >= 0 && planner.wants_gradient(norm_.residual)) planner.give_gradient(norm_.residual, dy_);
    planner.give_gradient(norm_.x, dx_);
  }

  void forward(const Run& run) override {
    if (taken_over_) return;
    BatchNormOp::Forward args;
    args.x = run.at(x_);
    if (residual_.buffer >= 0) args.residual = run.at(residual_);
    args.y = run.at(y_);
    args.gamma = run.weights + norm_.weight;
    args.beta = run.weights + norm_.bias;
    args.running_mean = run.statistics + norm_.mean;
    args.running_var = run.statistics + norm_.variance;
    args.scratch = run.at(scratch_);
    if (training_) {
      args.sums = channel_sums(run, sums_);
      args.saved = run.at(saved_);
      op_->forward_training(args, run.sum);
    } else {
      op_->forward_inference(args);
    }
  }

  void backward(const Run& run) override {
    if (taken_over_) return run.gradients_final();
    BatchNormOp::Backward args;
    args.dy = run.at(dy_);
    if (more_dy_.buffer >= 0) args.more_dy = run.at(more_dy_);
    args.sums = channel_sums(run, end_sums_);
    args.y = run.at(y_);
    args.gamma = run.weights + norm_.weight;
    args.beta = run.weights + norm_.bias;
    args.saved = run.at(saved_);
    args.dgamma = run.gradients + norm_.weight;
    args.dbeta = run.gradients + norm_.bias;
    args.scratch = run.at(backward_scratch_);
    if (merger_ != nullptr) {
      const BatchNormOp::Merging merging = merger_->multiply_pixels(run);
      merger_->merge(run, op_->backward_merged(args, merging, run.sum));
      return run.gradients_final();
    }
    args.x = run.at(x_);
    args.dx = run.at(dx_);
    op_->backward(args, run.sum);
    run.gradients_final();
  }

 private:
  ValueId y_value_;
  Normalisation norm_;
  bool training_;
  bool may_merge_;
  bool taken_over_ = false;  // the stage behind does all of it
  std::unique_ptr<BatchNormOp> op_;
  Slot x_, residual_, y_, dx_, dy_, more_dy_;  // all [n, c, h, w]
  Planner::PlannedSums sums_;                  // of x
  Planner::PlannedSums end_sums_;              // of dy, where a convolution masked it
  NormMerger* merger_ = nullptr;               // the convolution that makes dx into its own gradients
  Slot saved_, scratch_, backward_scratch_;
};

class BatchNormLayer final : public Layer {
 public:
  BatchNormLayer(const std::string& name, std::vector<ValueId> inputs, const Shape& shape, const Normalisation& norm)
      : Layer(name, std::move(inputs)), shape_(shape), norm_(norm) {}

  std::string op() const override {
    return std::string("BatchNorm") + (norm_.residual >= 0 ? "Add" : "") + (norm_.relu ? "Relu" : "");
  }
  Shape output_shape() const override { return shape_; }
  const Normalisation* normalisation() const override { return &norm_; }

  std::unique_ptr<Stage> compile(const Graph& graph, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    BatchNormParams params;
    params.input = planner.desc(norm_.x);
    params.residual = norm_.residual >= 0;
    params.relu = norm_.relu;
    params.eps = norm_.eps;
    if (params.residual && planner.desc(norm_.residual) != params.input) {
      throw Error(Exit::internal, name() + " adds tensors of different layouts. Report it.");
    }
    planner.set_desc(output, params.input);
    if (auto pair = compile_norm_pair(*this, graph, planner, backend, purpose)) return pair;
    // Merged, the gradient of the residual is also that of the convolution's output. Backward,
    // layers in front of the convolution come after it.
    const bool may_merge = params.residual && graph.first_consumer(norm_.residual)->output < norm_.x;
    return std::make_unique<BatchNormStage>(output, norm_, purpose, backend.make_batch_norm(params), may_merge);
  }

 private:
  Shape shape_;  // [1, c, h, w]
  Normalisation norm_;
};

}  // namespace

ValueId batch_norm(Graph& graph, const std::string& name, ValueId x, const BatchNormOptions& options) {
  const Shape shape = graph.shape(x);
  const auto per_channel = [&](const char* suffix, Init init) {
    return Parameter{name + suffix, {shape.c}, 0, 0, false, init, 0};
  };
  Normalisation norm{.x = x, .relu = options.relu, .residual = options.residual, .eps = options.eps};
  norm.weight = graph.add_parameter(per_channel(".weight", Init::ones));
  norm.bias = graph.add_parameter(per_channel(".bias", Init::zeros));
  norm.mean = graph.add_statistic(per_channel(".running_mean", Init::zeros));
  norm.variance = graph.add_statistic(per_channel(".running_var", Init::ones));
  std::vector<ValueId> inputs{x};
  if (options.residual >= 0) inputs.push_back(options.residual);
  return graph.add(std::make_unique<BatchNormLayer>(name, std::move(inputs), shape, norm));
}

}  // namespace trainyard
