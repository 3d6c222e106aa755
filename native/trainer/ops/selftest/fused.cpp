#include "trainer/ops/selftest/fused.h"

#include <memory>

namespace trainyard::selftest_detail {

namespace {

/// Half a dozen roundings.
constexpr double kRoundings = 1e-6;
/// Sums of some hundred products in fp32.
constexpr double kProducts = 1e-5;

size_t count(const Shape& shape) { return static_cast<size_t>(shape.elements()); }

/// A batch norm's parameters, statistics and gradients, by seed.
struct Norm {
  Norm(Side& side, int channels, uint64_t seed)
      : channels(static_cast<size_t>(channels)),
        gamma(side.floats(normal_numbers(this->channels, seed))),
        beta(side.floats(normal_numbers(this->channels, seed + 1))),
        mean(side.floats(std::vector<float>(this->channels, 0.0F))),
        variance(side.floats(std::vector<float>(this->channels, 1.0F))),
        dgamma(side.poisoned(this->channels)),
        dbeta(side.poisoned(this->channels)) {}

  /// By an op of its own: y, or dx.
  void* forward(Side& side, const BatchNormParams& params, const void* x, const void* residual,
                const ChannelSums& sums = {}) {
    f.sums = sums;
    op = side.backend().make_batch_norm(params);
    f.x = x;
    f.residual = residual;
    f.y = side.room(params.input);
    f.gamma = gamma;
    f.beta = beta;
    f.running_mean = mean;
    f.running_var = variance;
    f.saved = side.scratch(op->saved_bytes());
    f.scratch = side.scratch(op->scratch_bytes());
    op->forward_training(f, {});
    return f.y;
  }
  void* backward(Side& side, const TensorDesc& desc, void* dy, const void* more_dy) {
    BatchNormOp::Backward b;
    b.dy = dy;
    b.more_dy = more_dy;
    b.x = f.x;
    b.y = f.y;
    b.gamma = gamma;
    b.beta = beta;
    b.saved = f.saved;
    b.dx = side.room(desc);
    b.dgamma = dgamma;
    b.dbeta = dbeta;
    b.scratch = f.scratch;
    op->backward(b, {});
    return b.dx;
  }
  void read(Side& side, const std::string& of, std::vector<Result>& results) const {
    results.push_back({of + "running mean", side.read(mean, channels)});
    results.push_back({of + "running variance", side.read(variance, channels)});
    results.push_back({of + "dgamma", side.read(dgamma, channels)});
    results.push_back({of + "dbeta", side.read(dbeta, channels)});
  }

  size_t channels;
  float *gamma, *beta, *mean, *variance, *dgamma, *dbeta;
  std::unique_ptr<BatchNormOp> op;
  BatchNormOp::Forward f;
};

}  // namespace

void batch_norm_pair(Comparison& all, const Shape& shape) {
  all.run("batch norm " + to_string(shape) + " + batch norm + ReLU", kRoundings, [&](Side& side) {
    const TensorDesc desc = side.channels_last(shape);
    Norm branch(side, shape.c, 71);
    Norm projection(side, shape.c, 81);
    void* x = side.put(desc, normal_numbers(count(shape), 91));
    void* p = side.put(desc, normal_numbers(count(shape), 92));
    void* dy = side.put(desc, normal_numbers(count(shape), 93));
    void* more_dy = side.put(desc, normal_numbers(count(shape), 94));
    void* y = nullptr;
    void* dx = nullptr;
    void* dp = nullptr;
    if (const auto op = side.backend().make_batch_norm_pair({.input = desc})) {
      y = side.room(desc);
      dx = side.room(desc);
      dp = dy;
      BatchNormPairOp::Forward f;
      f.inputs = {{{x, branch.gamma, branch.beta, branch.mean, branch.variance},
                   {p, projection.gamma, projection.beta, projection.mean, projection.variance}}};
      f.y = y;
      f.saved = side.scratch(op->saved_bytes());
      f.scratch = side.scratch(op->scratch_bytes());
      op->forward_training(f, {});
      BatchNormPairOp::Backward b;
      b.dy = dy;
      b.more_dy = more_dy;
      b.inputs = {{{x, branch.gamma, dx, branch.dgamma, branch.dbeta},
                   {p, projection.gamma, dp, projection.dgamma, projection.dbeta}}};
      b.saved = f.saved;
      b.scratch = f.scratch;
      op->backward(b, {});
    } else {
      const BatchNormParams last{.input = desc, .residual = true, .relu = true};
      y = branch.forward(side, last, x, projection.forward(side, {.input = desc}, p, nullptr));
      dx = branch.backward(side, desc, dy, more_dy);
      dp = projection.backward(side, desc, dy, nullptr);
    }
    std::vector<Result> results{
        {"y", side.take(desc, y)}, {"dx", side.take(desc, dx)}, {"dprojection", side.take(desc, dp)}};
    branch.read(side, "", results);
    projection.read(side, "projection's ", results);
    return results;
  });
}

void batch_norm_pool(Comparison& all, const Shape& shape, int pad) {
  const std::string name = "batch norm " + to_string(shape) + " + ReLU + max pool, padded by " + std::to_string(pad);
  all.run(name, kRoundings, [&](Side& side) {
    const TensorDesc desc = side.channels_last(shape);
    Norm norm(side, shape.c, 71);
    void* x = side.put(desc, normal_numbers(count(shape), 91));
    const auto pool = side.backend().make_max_pool({.input = desc, .kernel = 3, .stride = 2, .pad = pad});
    const TensorDesc out = pool->output();
    std::vector<float> gradients = normal_numbers(count(out.shape), 93);
    const std::vector<float> more = normal_numbers(gradients.size(), 94);
    void* y = side.room(out);
    void* dx = nullptr;
    if (const auto op = side.backend().make_batch_norm_pool({.input = desc, .pad = pad})) {
      dx = side.room(desc);
      BatchNormOp::Forward f;
      f.x = x;
      f.y = y;
      f.gamma = norm.gamma;
      f.beta = norm.beta;
      f.running_mean = norm.mean;
      f.running_var = norm.variance;
      f.saved = side.scratch(op->saved_bytes());
      f.scratch = side.scratch(op->scratch_bytes());
      op->forward_training(f, {});
      BatchNormOp::Backward b;
      b.dy = side.put(out, gradients);
      b.more_dy = side.put(out, more);
      b.x = x;
      b.gamma = norm.gamma;
      b.saved = f.saved;
      b.dx = dx;
      b.dgamma = norm.dgamma;
      b.dbeta = norm.dbeta;
      b.scratch = f.scratch;
      op->backward(b, {});
    } else {
      void* winners = side.scratch(pool->workspace_bytes());
      void* scratch = side.scratch(pool->scratch_bytes());
      pool->forward(norm.forward(side, {.input = desc, .relu = true}, x, nullptr), y, winners, scratch);
      for (size_t i = 0; i < more.size(); ++i) gradients[i] = side.rounded(gradients[i]) + side.rounded(more[i]);
      void* gradient = side.room(desc);
      pool->backward(side.put(out, gradients), winners, gradient, scratch);
      dx = norm.backward(side, desc, gradient, nullptr);
    }
    std::vector<Result> results{{"y", side.take(out, y)}, {"dx", side.take(desc, dx)}};
    norm.read(side, "", results);
    return results;
  });
}

void normalised_convolution(Comparison& all, const Shape& in, int out) {
  const std::string name = "convolution " + to_string(in) + " to " + std::to_string(out) + " and its batch norm";
  all.run(name, kProducts, [&](Side& side) -> std::vector<Result> {
    const Conv2dParams p{.input = side.channels_last(in), .out_channels = out};
    const auto op = side.backend().make_conv2d(p);
    float* w = side.floats(normal_numbers(static_cast<size_t>(out) * in.c, 2));
    void* packed = w;
    if (op->forward_weights_bytes() > 0) op->pack_forward(w, packed = side.scratch(op->forward_weights_bytes()));
    void* x = side.put(p.input, normal_numbers(count(in), 1));
    void* y = side.room(op->output());
    void* scratch = side.scratch(op->forward_scratch_bytes());
    ChannelSums sums{.rows = op->sums_rows()};
    if (sums.rows > 0) {
      float* partial = side.poisoned(2 * size_t{sums.rows} * static_cast<size_t>(out));
      sums.partial = partial;
      op->forward_with_sums(x, packed, y, scratch, partial);
    } else {
      op->forward(x, packed, y, scratch);
    }
    Norm norm(side, out, 11);
    BatchNormParams params;
    params.input = op->output();
    params.relu = true;
    void* normalised = norm.forward(side, params, y, nullptr, sums);
    return {{"y", side.take(params.input, y)},
            {"normalised y", side.take(params.input, normalised)},
            {"running mean", side.read(norm.mean, norm.channels)},
            {"running variance", side.read(norm.variance, norm.channels)}};
  });
}

}  // namespace trainyard::selftest_detail
