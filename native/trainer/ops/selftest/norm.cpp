#include "trainer/ops/selftest/norm.h"

namespace trainyard::selftest_detail {

Norm::Norm(Side& side, int channels, uint64_t seed)
    : channels(static_cast<size_t>(channels)),
      gamma(side.floats(normal_numbers(this->channels, seed))),
      beta(side.floats(normal_numbers(this->channels, seed + 1))),
      mean(side.floats(std::vector<float>(this->channels, 0.0F))),
      variance(side.floats(std::vector<float>(this->channels, 1.0F))),
      dgamma(side.poisoned(this->channels)),
      dbeta(side.poisoned(this->channels)) {}

void* Norm::forward(Side& side, const BatchNormParams& params, const void* x, const void* residual,
                    const ChannelSums& sums) {
  f.sums = sums;
  op = side.backend().make_batch_norm(params);
  f.x = x;
  f.residual = residual;
  f.y = side.buffer(params.input);
  f.gamma = gamma;
  f.beta = beta;
  f.running_mean = mean;
  f.running_var = variance;
  f.saved = side.scratch(op->saved_bytes());
  f.scratch = side.scratch(op->scratch_bytes());
  op->forward_training(f, {});
  return f.y;
}

BatchNormOp::Backward Norm::of_gradient(void* dy, const ChannelSums& sums) const {
  BatchNormOp::Backward b;
  b.dy = dy;
  b.sums = sums;
  b.gamma = gamma;
  b.beta = beta;
  b.saved = f.saved;
  b.dgamma = dgamma;
  b.dbeta = dbeta;
  b.scratch = f.scratch;
  return b;
}

void* Norm::backward(Side& side, const TensorDesc& desc, void* dy, const void* more_dy, const ChannelSums& sums) {
  BatchNormOp::Backward b = of_gradient(dy, sums);
  b.more_dy = more_dy;
  b.x = f.x;
  b.y = f.y;
  b.dx = side.buffer(desc);
  op->backward(b, {});
  return b.dx;
}

MergedNorm Norm::backward_merged(void* g, const ChannelSums& sums, const BatchNormOp::Merging& merging) {
  return op->backward_merged(of_gradient(g, sums), merging, {});
}

void Norm::read(Side& side, const std::string& of, std::vector<Result>& results) const {
  results.push_back({of + "running mean", side.read(mean, channels)});
  results.push_back({of + "running variance", side.read(variance, channels)});
  results.push_back({of + "dgamma", side.read(dgamma, channels)});
  results.push_back({of + "dbeta", side.read(dbeta, channels)});
}

NormPair::NormPair(Side& side, const TensorDesc& desc)
    : desc_(desc),
      branch_(side, desc.shape.c, 71),
      projection_(side, desc.shape.c, 81),
      op_(side.backend().make_batch_norm_pair({.input = desc})) {
  if (!at_once()) return;
  saved_ = side.scratch(op_->saved_bytes());
  scratch_ = side.scratch(op_->scratch_bytes());
}

void* NormPair::forward(Side& side, const void* x, const void* projected) {
  x_ = {x, projected};
  if (!at_once()) {
    const BatchNormParams last{.input = desc_, .residual = true, .relu = true};
    return branch_.forward(side, last, x, projection_.forward(side, {.input = desc_}, projected, nullptr));
  }
  BatchNormPairOp::Forward f;
  f.inputs = {{{x, branch_.gamma, branch_.beta, branch_.mean, branch_.variance},
               {projected, projection_.gamma, projection_.beta, projection_.mean, projection_.variance}}};
  f.y = side.buffer(desc_);
  f.saved = saved_;
  f.scratch = scratch_;
  op_->forward_training(f, {});
  return f.y;
}

std::array<void*, 2> NormPair::backward(Side& side, void* dy, const void* more_dy, const ChannelSums& sums) {
  if (!at_once()) {
    void* dx = branch_.backward(side, desc_, dy, more_dy);
    return {dx, projection_.backward(side, desc_, dy, nullptr)};
  }
  void* dx = side.buffer(desc_);
  BatchNormPairOp::Backward b;
  b.dy = dy;
  b.more_dy = more_dy;
  b.sums = sums;
  b.inputs = {{{x_[0], branch_.gamma, dx, branch_.dgamma, branch_.dbeta},
               {x_[1], projection_.gamma, dy, projection_.dgamma, projection_.dbeta}}};
  b.saved = saved_;
  b.scratch = scratch_;
  op_->backward(b, {});
  return {dx, dy};
}

void NormPair::read(Side& side, std::vector<Result>& results) const {
  branch_.read(side, "", results);
  projection_.read(side, "projection's ", results);
}

}  // namespace trainyard::selftest_detail
