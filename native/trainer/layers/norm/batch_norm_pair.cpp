// The batch norm at the end of a residual block together with that of the block's projection.
#include <array>

#include "trainer/layers/graph.h"
#include "trainer/layers/norm/norm_merger.h"
#include "trainer/layers/norm/normalisation.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

class BatchNormPairStage final : public Stage {
 public:
  BatchNormPairStage(ValueId y, const std::array<Normalisation, 2>& norms, const Purpose& purpose,
                     std::unique_ptr<BatchNormPairOp> op)
      : y_value_(y), norms_(norms), training_(purpose.training), op_(std::move(op)) {}

  void plan_forward(Planner& planner) override {
    for (size_t i = 0; i < 2; ++i) x_.at(i) = planner.activation(norms_.at(i).x);
    for (size_t i = 0; training_ && i < 2; ++i) sums_.at(i) = planner.channel_sums(norms_.at(i).x);
    y_ = planner.make_activation(y_value_);
    scratch_ = planner.scratch(op_->scratch_bytes());
    if (!training_) return;
    saved_ = planner.keep(op_->saved_bytes());
    if (!op_->has_mask()) return;
    if (op_->merges()) merger_ = planner.merger(norms_[0].x);
    if (merger_ == nullptr) {
      planner.offer_masked_norms(y_value_,
                                 {GradientEndKind::pair, {norms_[0].x, norms_[1].x}, saved_, [this](const void* saved) {
                                    return op_->mask(saved);
                                  }});
      return;
    }
    // Without the branch, the projection's batch norm is as one with a residual.
    planner.offer_masked_norms(y_value_, {GradientEndKind::block, {norms_[1].x}, saved_, [this](const void* saved) {
                                            NormMask mask = op_->mask(saved);
                                            mask.mean = {mask.mean[1]};
                                            return mask;
                                          }});
  }

  void plan_backward(Planner& planner) override {
    end_sums_ = planner.end_sums(y_value_);
    if (end_sums_.rows == 0) merger_ = nullptr;
    if (merger_ == nullptr) x_[0] = planner.activation(norms_[0].x);
    x_[1] = planner.activation(norms_[1].x);
    planner.touch(saved_);
    backward_scratch_ = planner.scratch(op_->scratch_bytes());
    const auto gradients = planner.take_gradients(y_value_, 2);
    dy_ = gradients[0];
    if (gradients.size() > 1) more_dy_ = gradients[1];
    const Slot other = planner.keep(planner.desc(norms_[0].x).bytes());
    dx_ = merger_ != nullptr ? std::array{dy_, other} : std::array{other, dy_};
    if (merger_ != nullptr) merger_->plan_merge(planner);
    for (size_t i = 0; i < 2; ++i) planner.give_gradient(norms_.at(i).x, dx_.at(i));
  }

  void forward(const Run& run) override {
    BatchNormPairOp::Forward args;
    for (size_t i = 0; i < 2; ++i) {
      const Normalisation& norm = norms_.at(i);
      args.inputs.at(i) = {run.at(x_.at(i)),           run.weights + norm.weight,      run.weights + norm.bias,
                           run.statistics + norm.mean, run.statistics + norm.variance, channel_sums(run, sums_.at(i))};
    }
    args.y = run.at(y_);
    args.scratch = run.at(scratch_);
    if (training_) {
      args.saved = run.at(saved_);
      op_->forward_training(args, run.sum);
    } else {
      op_->forward_inference(args);
    }
  }

  /// The projection's parameters too; their layer says when its turn comes that they are final.
  void backward(const Run& run) override {
    BatchNormPairOp::Backward args;
    args.dy = run.at(dy_);
    if (more_dy_.buffer >= 0) args.more_dy = run.at(more_dy_);
    args.sums = channel_sums(run, end_sums_);
    for (size_t i = 0; i < 2; ++i) {
      const Normalisation& norm = norms_.at(i);
      args.inputs.at(i) = {run.at(x_.at(i)), run.weights + norm.weight, run.at(dx_.at(i)), run.gradients + norm.weight,
                           run.gradients + norm.bias};
    }
    args.saved = run.at(saved_);
    args.scratch = run.at(backward_scratch_);
    if (merger_ != nullptr) {
      const BatchNormOp::Merging merging = merger_->multiply_pixels(run);
      merger_->merge(run, op_->backward_merged(args, merging, run.sum));
    } else {
      op_->backward(args, run.sum);
    }
    run.gradients_final();
  }

 private:
  ValueId y_value_;
  std::array<Normalisation, 2> norms_;  // of the branch, of the projection
  bool training_;
  std::unique_ptr<BatchNormPairOp> op_;
  std::array<Slot, 2> x_, dx_;                // [n, c, h, w]
  Slot y_, dy_, more_dy_;                     // [n, c, h, w]
  std::array<Planner::PlannedSums, 2> sums_;  // of the inputs
  Planner::PlannedSums end_sums_;             // of dy, where a convolution masked it
  NormMerger* merger_ = nullptr;              // as BatchNormStage's, of the branch
  Slot saved_, scratch_, backward_scratch_;
};

}  // namespace

std::unique_ptr<Stage> compile_norm_pair(const Layer& layer, const Graph& graph, Planner& planner, Backend& backend,
                                         const Purpose& purpose) {
  const Normalisation* branch = layer.normalisation();
  if (branch == nullptr || !branch->relu || branch->residual < 0) return nullptr;
  const Normalisation* projection = graph.producer(branch->residual).normalisation();
  if (projection == nullptr || projection->relu || projection->residual >= 0) return nullptr;
  if (!graph.is_read_once(branch->residual)) return nullptr;
  const TensorDesc& input = planner.desc(branch->x);
  if (planner.desc(projection->x) != input) return nullptr;
  auto op = backend.make_batch_norm_pair({.input = input, .eps = {branch->eps, projection->eps}});
  if (op == nullptr) return nullptr;
  planner.take_over(branch->residual);
  return std::make_unique<BatchNormPairStage>(layer.output, std::array{*branch, *projection}, purpose, std::move(op));
}

}  // namespace trainyard
