// Batch norm: alone, with a residual, with ReLU, with both, in every layout, and over two ranks.
#include <barrier>
#include <cmath>
#include <thread>

#include "tests/ops/reference.h"

namespace trainyard::test {
namespace {

const Shape kShapes[] = {{4, 16, 5, 5}, {3, 20, 4, 3}, {2, 7, 6, 1}, {5, 40, 2, 2}, {1, 3, 9, 7}, {6, 64, 1, 1}};

/// What one run of the op gives back.
struct Outcome {
  Values y, y_inference, dx, dother;
  std::vector<double> running_mean, running_var, dgamma, dbeta;
};

Outcome run(Bench& bench, const BatchNormParams& params, const BatchNormReference& data, const Values& dy,
            const Values* more_dy, const SumOverRanks& sum, bool in_place = false) {
  const TensorDesc& desc = params.input;
  const auto channels = static_cast<size_t>(desc.shape.c);
  const auto op = bench.backend().make_batch_norm(params);
  BatchNormOp::Forward f;
  f.x = bench.put(desc, data.x);
  if (params.residual) f.residual = bench.put(desc, data.other);
  f.y = bench.buffer(desc);
  f.gamma = bench.floats(data.gamma);
  f.beta = bench.floats(data.beta);
  f.running_mean = bench.floats(std::vector<double>(channels, 0.5));
  f.running_var = bench.floats(std::vector<double>(channels, 2.0));
  f.saved = bench.scratch(op->saved_bytes());
  f.scratch = bench.scratch(op->scratch_bytes());
  op->forward_training(f, sum);
  Outcome out;
  out.y = bench.take(desc, f.y);
  out.running_mean = bench.read(f.running_mean, channels);
  out.running_var = bench.read(f.running_var, channels);

  BatchNormOp::Backward b;
  b.dy = bench.put(desc, dy);
  if (more_dy != nullptr) b.more_dy = bench.put(desc, *more_dy);
  b.x = f.x;
  b.y = f.y;
  b.gamma = f.gamma;
  b.beta = f.beta;
  b.saved = f.saved;
  b.dx = in_place ? b.dy : bench.buffer(desc);
  b.dgamma = bench.floats(std::vector<double>(channels, NAN));
  b.dbeta = bench.floats(std::vector<double>(channels, NAN));
  b.scratch = bench.scratch(op->scratch_bytes());
  op->backward(b, sum);
  out.dx = bench.take(desc, b.dx);
  if (params.residual) out.dother = bench.take(desc, b.dy);
  out.dgamma = bench.read(b.dgamma, channels);
  out.dbeta = bench.read(b.dbeta, channels);

  BatchNormOp::Forward inference = f;
  inference.y = bench.buffer(desc);
  inference.scratch = bench.scratch(op->scratch_bytes());
  op->forward_inference(inference);
  out.y_inference = bench.take(desc, inference.y);
  return out;
}

BatchNormReference reference_for(const Shape& shape, bool residual, bool relu, double mean) {
  BatchNormReference reference;
  reference.residual = residual;
  reference.relu = relu;
  reference.x = random_values(shape, 11, mean, 1.5);
  reference.other = random_values(shape, 12);
  reference.gamma = random_numbers(static_cast<size_t>(shape.c), 13, 1, 0.3);
  reference.beta = random_numbers(static_cast<size_t>(shape.c), 14, 0, 0.3);
  return reference;
}

class BatchNorm : public ContractTest {
 protected:
  void check(const Shape& shape, Layout layout, bool residual, bool relu, bool more) {
    const std::string name = to_string(shape) + " " + layout_name(layout) + (residual ? " +residual" : "") +
                             (relu ? " +relu" : "") + (more ? " +gradient" : "");
    BatchNormReference reference = reference_for(shape, residual, relu, 0.7);
    BatchNormParams params;
    params.input = {shape, layout};
    params.residual = residual;
    params.relu = relu;
    Values dy = random_values(shape, 15);
    const Values extra = random_values(shape, 16);
    Values total = dy;
    for (size_t i = 0; more && i < total.at.size(); ++i) {
      total.at[i] = static_cast<float>(total.at[i]) + static_cast<float>(extra.at[i]);
    }
    const Outcome got = run(bench_, params, reference, dy, more ? &extra : nullptr, {}, !residual);

    // Statistics are exact to fp32; an element then takes half a dozen roundings of numbers below
    // ten.
    constexpr double kTolerance = 8 * kRounding;
    expect_close(got.y.at, reference.forward().at, kTolerance, name + ", y");
    const double count = double(shape.n) * static_cast<double>(shape.pixels());
    std::vector<double> mean = reference.mean();
    std::vector<double> variance = reference.variance();
    for (size_t c = 0; c < mean.size(); ++c) {
      mean[c] = 0.9 * 0.5 + 0.1 * mean[c];
      variance[c] = 0.9 * 2.0 + 0.1 * variance[c] * count / (count - 1);
    }
    expect_close(got.running_mean, mean, 2 * kRounding, name + ", running mean");
    expect_close(got.running_var, variance, 2 * kRounding, name + ", running variance");
    expect_close(got.y_inference.at, reference.forward(got.running_mean, got.running_var).at, kTolerance,
                 name + ", y of inference");

    const auto want = reference.backward(total);
    expect_close(got.dx.at, want.dx.at, 2 * kTolerance, name + ", dx");
    if (residual) expect_close(got.dother.at, want.dother.at, kTolerance, name + ", dresidual");
    expect_close(got.dgamma, want.dgamma, kTolerance, name + ", dgamma");
    expect_close(got.dbeta, want.dbeta, kTolerance, name + ", dbeta");

    // Curvature over a step of 1e-5 leaves some 1e-9; what remains is the op's own rounding.
    const auto loss = [&] { return weighted_sum(total, reference.forward()); };
    constexpr double kDifferences = 2e-6;
    expect_numeric_gradient(reference.x.at, got.dx.at, loss, kDifferences, name + ", dx");
    if (residual) expect_numeric_gradient(reference.other.at, got.dother.at, loss, kDifferences, name + ", dresidual");
    expect_numeric_gradient(reference.gamma, got.dgamma, loss, kDifferences, name + ", dgamma");
    expect_numeric_gradient(reference.beta, got.dbeta, loss, kDifferences, name + ", dbeta");
  }
};

TRAINYARD_FOR_EVERY_BACKEND(BatchNorm);

TEST_P(BatchNorm, IsWhatItsDefinitionSays) {
  for (const Shape& shape : kShapes) {
    for (const Layout layout : backend_case().layouts) {
      for (int kind = 0; kind < 8; ++kind) check(shape, layout, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
    }
  }
}

TEST_P(BatchNorm, KeepsItsDigitsFarFromZero) {
  // A mean of 3000 deviations: sums of squares in fp32 would lose the variance altogether.
  BatchNormReference reference = reference_for({8, 16, 6, 6}, false, false, 4500);
  BatchNormParams params;
  params.input = {{8, 16, 6, 6}, backend_case().layouts[0]};
  const Values dy = random_values(params.input.shape, 15);
  const Outcome got = run(bench_, params, reference, dy, nullptr, {});
  // The mean itself is rounded to fp32 once: 4500 * 2^-24 against a deviation of 1.5.
  expect_close(got.y.at, reference.forward().at, 4500 / 1.5 * kRounding, "y");
  expect_close(
      got.running_var,
      [&] {
        std::vector<double> variance = reference.variance();
        for (double& v : variance) v = 0.9 * 2.0 + 0.1 * v * 288 / 287;
        return variance;
      }(),
      1e-6, "running variance");
}

TEST_P(BatchNorm, DoesNotDependOnTheNumberOfThreads) {
  BatchNormReference reference = reference_for({6, 48, 16, 16}, true, true, 0.2);
  BatchNormParams params;
  params.input = {{6, 48, 16, 16}, backend_case().layouts[0]};
  params.residual = params.relu = true;
  const Values dy = random_values(params.input.shape, 15);
  const Outcome some = run(bench_, params, reference, dy, nullptr, {});
  set_threads(1);
  const Outcome one = run(bench_, params, reference, dy, nullptr, {});
  EXPECT_EQ(some.y.at, one.y.at);
  EXPECT_EQ(some.dx.at, one.dx.at);
  EXPECT_EQ(some.dgamma, one.dgamma);
}

/// Sums over two threads that play two ranks, always in rank order.
class TwoRanks {
 public:
  SumOverRanks of(size_t rank) {
    return [this, rank](double* values, size_t count) {
      given_[rank].assign(values, values + count);
      barrier_.arrive_and_wait();
      for (size_t i = 0; i < count; ++i) values[i] = given_[0][i] + given_[1][i];
      barrier_.arrive_and_wait();
    };
  }

 private:
  std::vector<double> given_[2];
  std::barrier<> barrier_{2};
};

Values images(const Values& all, int begin, int many) {
  Values part({many, all.shape.c, all.shape.h, all.shape.w});
  const auto size = static_cast<size_t>(all.shape.elements() / all.shape.n);
  std::copy_n(all.at.begin() + static_cast<ptrdiff_t>(begin * size), many * size, part.at.begin());
  return part;
}

TEST_P(BatchNorm, OverTwoRanksEqualsOneWithTheWholeBatch) {
  const Shape shape{5, 20, 4, 3};
  const int split[2][2] = {{0, 3}, {3, 2}};  // unequal shares: the counts are summed, too
  for (const Layout layout : backend_case().layouts) {
    BatchNormReference whole = reference_for(shape, true, true, 0.4);
    BatchNormParams params;
    params.input = {shape, layout};
    params.residual = params.relu = true;
    const Values dy = random_values(shape, 15);
    const Outcome want = run(bench_, params, whole, dy, nullptr, {});

    TwoRanks ranks;
    Outcome got[2];
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        Bench bench(backend_case(), std::get<1>(GetParam()));
        const int begin = split[rank][0];
        const int many = split[rank][1];
        BatchNormReference part = whole;
        part.x = images(whole.x, begin, many);
        part.other = images(whole.other, begin, many);
        BatchNormParams own = params;
        own.input.shape.n = many;
        got[rank] = run(bench, own, part, images(dy, begin, many), nullptr, ranks.of(rank));
      });
    }
    for (std::thread& thread : threads) thread.join();
    // Only the order of sums differs: in double, and on a device in short runs of fp32.
    constexpr double kTolerance = 4 * kRounding;
    for (size_t rank = 0; rank < 2; ++rank) {
      const int begin = split[rank][0];
      const int many = split[rank][1];
      const std::string name = std::string(layout_name(layout)) + ", rank " + std::to_string(rank);
      expect_close(got[rank].y.at, images(want.y, begin, many).at, kTolerance, name + ", y");
      expect_close(got[rank].dx.at, images(want.dx, begin, many).at, kTolerance, name + ", dx");
      expect_close(got[rank].dother.at, images(want.dother, begin, many).at, kTolerance, name + ", dresidual");
      expect_close(got[rank].running_mean, want.running_mean, kTolerance, name + ", running mean");
      expect_close(got[rank].running_var, want.running_var, kTolerance, name + ", running variance");
    }
    // The parameters' gradients are each rank's own, for the all-reduce to add.
    std::vector<double> dgamma(got[0].dgamma), dbeta(got[0].dbeta);
    for (size_t c = 0; c < dgamma.size(); ++c) {
      dgamma[c] += got[1].dgamma[c];
      dbeta[c] += got[1].dbeta[c];
    }
    expect_close(dgamma, want.dgamma, 2 * kTolerance, "dgamma");
    expect_close(dbeta, want.dbeta, 2 * kTolerance, "dbeta");
  }
}

}  // namespace
}  // namespace trainyard::test
