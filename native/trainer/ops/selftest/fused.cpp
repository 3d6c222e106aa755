#include "trainer/ops/selftest/fused.h"

#include "trainer/ops/selftest/norm.h"

namespace trainyard::selftest_detail {

namespace {

/// Half a dozen roundings.
constexpr double kRoundings = 1e-6;
/// Sums of some hundred products in fp32.
constexpr double kProducts = 1e-5;

}  // namespace

void batch_norm_pair(Comparison& all, const Shape& shape) {
  all.run("batch norm " + to_string(shape) + " + batch norm + ReLU", kRoundings, [&](Side& side) {
    const TensorDesc desc = side.channels_last(shape);
    NormPair pair(side, desc);
    void* x = side.put(desc, normal_numbers(count(shape), 91));
    void* p = side.put(desc, normal_numbers(count(shape), 92));
    void* dy = side.put(desc, normal_numbers(count(shape), 93));
    void* more_dy = side.put(desc, normal_numbers(count(shape), 94));
    void* y = pair.forward(side, x, p);
    const auto [dx, dp] = pair.backward(side, dy, more_dy);
    std::vector<Result> results{
        {"y", side.take(desc, y)}, {"dx", side.take(desc, dx)}, {"dprojection", side.take(desc, dp)}};
    pair.read(side, results);
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
    void* y = side.buffer(out);
    void* dx = nullptr;
    if (const auto op = side.backend().make_batch_norm_pool({.input = desc, .pad = pad})) {
      dx = side.buffer(desc);
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
      void* gradient = side.buffer(desc);
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
    void* y = side.buffer(op->output());
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

namespace {

/// [channels], of sums [rows, channels].
std::vector<float> added_rows(Side& side, const ChannelSums& sums, int channels) {
  const auto width = static_cast<size_t>(channels);
  const std::vector<float> partial = side.read(sums.partial, sums.rows * width);
  std::vector<double> added(width);
  for (size_t i = 0; i < partial.size(); ++i) added[i % width] += partial[i];
  return {added.begin(), added.end()};
}

}  // namespace

void ended_gradient(Comparison& all, const Shape& in, int out, GradientEndKind kind) {
  const bool adds = kind != GradientEndKind::inner;
  const bool pairs = kind == GradientEndKind::pair;
  const bool merged = kind == GradientEndKind::mask;
  const std::string name = "gradient of " + to_string(in) + " from " + std::to_string(out) + " to the end of " +
                           (pairs    ? "a block with projection"
                            : merged ? "a block that is merged"
                            : adds   ? "a block"
                                     : "a batch norm");
  all.run(name, kProducts, [&](Side& side) -> std::vector<Result> {
    const Conv2dParams p{.input = side.channels_last(in), .out_channels = out};
    const TensorDesc& desc = p.input;
    const auto op = side.backend().make_conv2d(p);
    void* x = side.put(desc, normal_numbers(count(in), 1));
    void* other = side.put(desc, normal_numbers(count(in), 2));  // what is added, or projected
    NormPair pair(side, desc);
    Norm norm(side, in.c, 11);
    BatchNormParams params;
    params.input = desc;
    params.residual = adds;
    params.relu = true;
    pairs ? pair.forward(side, x, other) : norm.forward(side, params, x, adds ? other : nullptr);

    float* w = side.floats(normal_numbers(static_cast<size_t>(out) * in.c, 3));
    void* dy = side.put(op->output(), normal_numbers(count(op->output().shape), 4));
    void* g = adds ? side.put(desc, normal_numbers(count(in), 5)) : side.buffer(desc);
    void* dx = nullptr;
    ChannelSums sums{.rows = op->end_sums_rows(kind)};
    if (sums.rows > 0) {
      PackedWeights packed{.out = out, .in = in.c, .dtype = desc.dtype, .transposed = true};
      packed.to = side.scratch(packed.bytes());
      side.backend().make_pack({packed})->run(w);
      GradientEnd end{.kind = kind, .more = adds ? g : nullptr, .x = {x, other}};
      end.mask = pairs ? pair.mask() : norm.mask();
      end.sums = side.poisoned((1 + norms_of(kind)) * size_t{sums.rows} * static_cast<size_t>(in.c));
      op->backward_data_to_end(dy, packed.to, end, g);
      sums.partial = end.sums;
    } else {
      void* packed = w;
      if (op->backward_weights_bytes() > 0) op->pack_backward(w, packed = side.scratch(op->backward_weights_bytes()));
      dx = adds ? side.buffer(desc) : g;
      op->backward_data(dy, packed, dx, side.scratch(op->backward_data_scratch_bytes()));
    }
    const void* more = adds ? dx : nullptr;
    std::vector<Result> results;
    if (pairs) {
      const auto [of_branch, of_projection] = pair.backward(side, g, more, sums);
      results = {{"dx", side.take(desc, of_branch)}, {"dprojection", side.take(desc, of_projection)}};
      pair.read(side, results);
      return results;
    }
    if (merged) {
      if (sums.rows == 0) norm.backward(side, desc, g, more);
      results.push_back({"dresidual", side.take(desc, g)});
      results.push_back({"dbeta", sums.rows > 0 ? added_rows(side, sums, in.c) : side.read(norm.dbeta, norm.channels)});
      return results;
    }
    results.push_back({"dx", side.take(desc, norm.backward(side, desc, g, more, sums))});
    if (adds) results.push_back({"dresidual", side.take(desc, g)});
    norm.read(side, "", results);
    return results;
  });
}

void merged_gradient(Comparison& all, const Shape& in, int out) {
  const std::string name =
      "gradient of " + to_string(in) + " from " + std::to_string(out) + " through the batch norm behind";
  all.run(name, kProducts, [&](Side& side) -> std::vector<Result> {
    const Conv2dParams p{.input = side.channels_last(in), .out_channels = out};
    const auto op = side.backend().make_conv2d(p);
    const TensorDesc desc = op->output();
    const auto channels = static_cast<size_t>(in.c);
    Norm before(side, in.c, 11);
    BatchNormParams params;
    params.input = p.input;
    params.relu = true;
    void* z = side.put(p.input, normal_numbers(count(in), 1));
    void* x = before.forward(side, params, z, nullptr);
    float* w = side.floats(normal_numbers(static_cast<size_t>(out) * channels, 3));
    void* packed = w;
    if (op->forward_weights_bytes() > 0) op->pack_forward(w, packed = side.scratch(op->forward_weights_bytes()));
    void* y = side.buffer(desc);
    op->forward(x, packed, y, side.scratch(op->forward_scratch_bytes()));

    Norm behind(side, out, 21);
    params.input = desc;
    const std::vector<float> gradients = normal_numbers(count(desc.shape), 4);
    void* g = side.put(desc, gradients);
    float* dw = side.poisoned(static_cast<size_t>(out) * channels);
    void* dx = side.buffer(p.input);
    ChannelSums sums;
    if (const MergeBytes bytes = op->merge_bytes()) {
      // As at the end of a block, where g is masked and has been summed.
      params.residual = true;
      behind.forward(side, params, y, side.put(desc, normal_numbers(count(desc.shape), 5)));
      std::vector<float> sum(static_cast<size_t>(out));
      const auto pixels = static_cast<size_t>(desc.shape.pixels());
      for (size_t i = 0; i < gradients.size(); ++i) sum[i / pixels % sum.size()] += side.rounded(gradients[i]);
      auto* products = static_cast<float*>(side.scratch(bytes.products));
      void* merged = side.scratch(bytes.weights);
      op->multiply_pixels(x, g, side.scratch(bytes.scratch), products);
      const BatchNormOp::Merging merging{
          .products = products, .weights = packed, .inner = static_cast<unsigned>(channels)};
      op->merge_norm(packed, products, behind.backward_merged(g, {side.floats(sum), 1}, merging), dw, merged);
      sums.rows = op->merged_sums_rows();
      GradientEnd end{.kind = GradientEndKind::inner, .mask = before.mask(), .x = {z}};
      end.sums = side.poisoned(2 * size_t{sums.rows} * channels);
      sums.partial = end.sums;
      op->backward_data_merged(x, g, merged, end, dx);
    } else {
      params.relu = false;
      behind.forward(side, params, y, nullptr);
      void* dy = behind.backward(side, desc, g, nullptr);
      op->backward_weights(x, dy, dw, side.scratch(op->backward_weights_scratch_bytes()));
      if (op->backward_weights_bytes() > 0) op->pack_backward(w, packed = side.scratch(op->backward_weights_bytes()));
      op->backward_data(dy, packed, dx, side.scratch(op->backward_data_scratch_bytes()));
    }
    void* dz = before.backward(side, p.input, dx, nullptr, sums);
    std::vector<Result> results{{"dx", side.take(p.input, dz)},
                                {"dw", side.read(dw, static_cast<size_t>(out) * channels)}};
    before.read(side, "", results);
    behind.read(side, "merged ", results);
    return results;
  });
}

}  // namespace trainyard::selftest_detail
