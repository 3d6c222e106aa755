// The CUDA back end's ops that are several ops in one, played on the host, beside those ops as the
// kernels that take a number at a time compute them in fp32: every shape of every model, odd rows
// and channels, in each type.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/models/kernel_numbers.h"

namespace trainyard {
namespace {

using test::apart;
using test::kStored;
using test::Numbers;
using test::wide;

/// What an op gives back, by name.
using Outcome = std::map<std::string, std::vector<float>>;

struct Case {
  Shape shape;
  bool more = false, over_ranks = false;

  std::string name() const { return to_string(shape) + (more ? ", more" : "") + (over_ranks ? ", over ranks" : ""); }
  TensorDesc desc(DType dtype) const { return {shape, Layout::nhwc, dtype}; }
  /// Doubles all sums, as if another rank had the same; what they were goes to `out`.
  SumOverRanks sum(Outcome& out) const {
    if (!over_ranks) return {};
    return [&out, calls = 0](double* values, size_t count) mutable {
      out["sum " + std::to_string(calls++)].assign(values, values + count);
      for (size_t i = 0; i < count; ++i) values[i] *= 2;
    };
  }
};

/// The parameters and statistics of one batch norm.
struct Norm {
  Norm(Numbers& memory, size_t channels, uint32_t seed)
      : gamma(memory.random<float>(channels, seed, 2.5F)),
        beta(memory.random<float>(channels, seed + 1)),
        mean(memory.random<float>(channels, seed + 2)),
        variance(memory.random<float>(channels, seed + 3, 3)),
        dgamma(static_cast<float*>(memory.bytes(channels * sizeof(float)))),
        dbeta(static_cast<float*>(memory.bytes(channels * sizeof(float)))),
        channels(channels) {}

  void read(Outcome& out, const std::string& of) const {
    out[of + " dgamma"] = wide(dgamma, channels);
    out[of + " dbeta"] = wide(dbeta, channels);
    out[of + " mean"] = wide(mean, channels);
    out[of + " variance"] = wide(variance, channels);
  }

  float *gamma, *beta, *mean, *variance, *dgamma, *dbeta;
  size_t channels;
};

/// A batch norm of the back end by itself.
template <class T>
struct Single {
  Single(Numbers& memory, const Norm& norm, const BatchNormParams& params)
      : memory_(memory), norm_(norm), op_(memory.backend().make_batch_norm(params)), count_(params.input.elements()) {
    f_.gamma = norm.gamma;
    f_.beta = norm.beta;
    f_.running_mean = norm.mean;
    f_.running_var = norm.variance;
    f_.saved = memory.bytes(op_->saved_bytes());
    f_.scratch = memory.bytes(op_->scratch_bytes());
  }
  T* forward(const T* x, const T* residual, const SumOverRanks& sum) {
    prepare(x, residual);
    op_->forward_training(f_, sum);
    y_ = static_cast<T*>(f_.y);
    return y_;
  }
  T* inference(const T* x, const T* residual) {
    prepare(x, residual);
    op_->forward_inference(f_);
    return static_cast<T*>(f_.y);
  }
  /// Returns dx; dy is the residual's gradient afterwards.
  T* backward(const T* x, T* dy, const T* more, const SumOverRanks& sum) {
    BatchNormOp::Backward b;
    b.dy = dy;
    b.more_dy = more;
    b.x = x;
    b.y = y_;
    b.gamma = norm_.gamma;
    b.beta = norm_.beta;
    b.saved = f_.saved;
    b.dx = memory_.bytes(count_ * sizeof(T));
    b.dgamma = norm_.dgamma;
    b.dbeta = norm_.dbeta;
    b.scratch = f_.scratch;
    op_->backward(b, sum);
    return static_cast<T*>(b.dx);
  }

 private:
  void prepare(const T* x, const T* residual) {
    f_.x = x;
    f_.residual = residual;
    f_.y = memory_.bytes(count_ * sizeof(T));
  }

  Numbers& memory_;
  const Norm& norm_;
  std::unique_ptr<BatchNormOp> op_;
  size_t count_;
  BatchNormOp::Forward f_;
  T* y_ = nullptr;
};

/// Both batch norms at the end of a residual block, one after the other.
Outcome pair_apart(const Case& c) {
  Numbers memory({.plain = true});
  const TensorDesc desc = c.desc(DType::f32);
  const size_t count = desc.elements();
  const Norm branch(memory, static_cast<size_t>(c.shape.c), 20);
  const Norm projection(memory, static_cast<size_t>(c.shape.c), 30);
  Single<float> first(memory, branch, {.input = desc, .residual = true, .relu = true});
  Single<float> second(memory, projection, {.input = desc, .eps = 1e-3});
  const auto* x = memory.random<float>(count, 1, 0.5F);
  const auto* p = memory.random<float>(count, 2, -0.25F);
  Outcome out;
  const SumOverRanks sum = c.sum(out);
  out["y"] = wide(first.forward(x, second.forward(p, nullptr, sum), sum), count);
  auto* dy = memory.random<float>(count, 7);
  const float* dx = first.backward(x, dy, c.more ? memory.random<float>(count, 8) : nullptr, sum);
  const float* dp = second.backward(p, dy, nullptr, sum);
  out["dx"] = wide(dx, count);
  out["dprojection"] = wide(dp, count);
  branch.read(out, "branch");
  projection.read(out, "projection");
  out["inference"] = wide(first.inference(x, second.inference(p, nullptr)), count);
  return out;
}

template <class T>
Outcome pair_at_once(const Case& c, test::HostKernels kernels) {
  Numbers memory(std::move(kernels));
  const TensorDesc desc = c.desc(kStored<T>);
  const size_t count = desc.elements();
  const Norm branch(memory, static_cast<size_t>(c.shape.c), 20);
  const Norm projection(memory, static_cast<size_t>(c.shape.c), 30);
  const auto op = memory.backend().make_batch_norm_pair({.input = desc, .eps = {1e-5, 1e-3}});
  if (op == nullptr) return {};
  Outcome out;
  const SumOverRanks sum = c.sum(out);
  BatchNormPairOp::Forward f;
  f.inputs = {
      {{memory.random<T>(count, 1, 0.5F), branch.gamma, branch.beta, branch.mean, branch.variance},
       {memory.random<T>(count, 2, -0.25F), projection.gamma, projection.beta, projection.mean, projection.variance}}};
  f.y = memory.bytes(count * sizeof(T));
  f.saved = memory.bytes(op->saved_bytes());
  f.scratch = memory.bytes(op->scratch_bytes());
  op->forward_training(f, sum);
  out["y"] = wide(static_cast<T*>(f.y), count);
  BatchNormPairOp::Backward b;
  auto* dy = memory.random<T>(count, 7);
  auto* dx = static_cast<T*>(memory.bytes(count * sizeof(T)));
  b.dy = dy;
  if (c.more) b.more_dy = memory.random<T>(count, 8);
  b.inputs = {{{f.inputs[0].x, branch.gamma, dx, branch.dgamma, branch.dbeta},
               {f.inputs[1].x, projection.gamma, dy, projection.dgamma, projection.dbeta}}};
  b.saved = f.saved;
  b.scratch = memory.bytes(op->scratch_bytes());
  op->backward(b, sum);
  out["dx"] = wide(dx, count);
  out["dprojection"] = wide(dy, count);
  branch.read(out, "branch");
  projection.read(out, "projection");
  f.y = memory.bytes(count * sizeof(T));
  f.scratch = memory.bytes(op->scratch_bytes());
  op->forward_inference(f);
  out["inference"] = wide(static_cast<T*>(f.y), count);
  return out;
}

/// One rounding of activations, and two of gradients; sums and what follows from them differ by
/// their order alone.
template <class T>
void expect_near(const Outcome& got, const Outcome& want) {
  constexpr double kLastBits = 4e-7;
  const double rounding = kLastBits + (std::is_same_v<T, float> ? 0 : std::is_same_v<T, BFloat16> ? 0x1p-8 : 0x1p-11);
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : want) {
    const bool stored = name == "y" || name == "inference";
    const bool gradient = name == "dx" || name == "dprojection";
    const double bound = stored ? rounding : gradient ? 2 * rounding : 4 * kLastBits;
    EXPECT_LT(apart(got.at(name), values), bound) << name;
  }
}

template <class T>
void compare(const Case& c, const Outcome& want,
             const std::function<Outcome(const Case&, test::HostKernels kernels)>& run) {
  SCOPED_TRACE(c.name() + ", " + std::to_string(sizeof(T)) + " bytes");
  const Outcome got = run(c, {});
  ASSERT_FALSE(got.empty());
  expect_near<T>(got, want);
  EXPECT_TRUE(got == run(c, {.forwards = true})) << "the order of threads or blocks matters";
  EXPECT_TRUE(got == run(c, {.passing_blocks = 1})) << "the number of blocks that pass matters";
  // One block has many rows, of which a thread takes several at a time.
  expect_near<T>(run(c, {.summing_blocks = 1}), want);
}

/// Batch norm with ReLU, then max pooling by 3x3 pixels, one after the other.
Outcome pool_apart(const Case& c, int pad) {
  Numbers memory({.plain = true});
  const TensorDesc desc = c.desc(DType::f32);
  const Norm norm(memory, static_cast<size_t>(c.shape.c), 20);
  Single<float> single(memory, norm, {.input = desc, .relu = true});
  const auto op = memory.backend().make_max_pool({.input = desc, .kernel = 3, .stride = 2, .pad = pad});
  const size_t count = op->output().elements();
  const auto* x = memory.random<float>(desc.elements(), 1, 0.5F);
  auto* y = static_cast<float*>(memory.bytes(count * sizeof(float)));
  void* winners = memory.bytes(op->workspace_bytes());
  Outcome out;
  const SumOverRanks sum = c.sum(out);
  op->forward(single.forward(x, nullptr, sum), y, winners, nullptr);
  out["y"] = wide(y, count);
  auto* dy = memory.random<float>(count, 7);
  if (c.more) memory.backend().make_add(op->output())->run(dy, memory.random<float>(count, 8));
  auto* gradient = static_cast<float*>(memory.bytes(desc.bytes()));
  op->backward(dy, winners, gradient, nullptr);
  out["dx"] = wide(single.backward(x, gradient, nullptr, sum), desc.elements());
  norm.read(out, "norm");
  op->forward(single.inference(x, nullptr), y, winners, nullptr);
  out["inference"] = wide(y, count);
  return out;
}

template <class T>
Outcome pool_at_once(const Case& c, int pad, test::HostKernels kernels) {
  Numbers memory(std::move(kernels));
  const TensorDesc desc = c.desc(kStored<T>);
  const Norm norm(memory, static_cast<size_t>(c.shape.c), 20);
  const auto op = memory.backend().make_batch_norm_pool({.input = desc, .pad = pad});
  if (op == nullptr) return {};
  const size_t count = op->output().elements();
  Outcome out;
  const SumOverRanks sum = c.sum(out);
  BatchNormOp::Forward f;
  f.x = memory.random<T>(desc.elements(), 1, 0.5F);
  f.y = memory.bytes(count * sizeof(T));
  f.gamma = norm.gamma;
  f.beta = norm.beta;
  f.running_mean = norm.mean;
  f.running_var = norm.variance;
  f.saved = memory.bytes(op->saved_bytes());
  f.scratch = memory.bytes(op->scratch_bytes());
  op->forward_training(f, sum);
  out["y"] = wide(static_cast<T*>(f.y), count);
  BatchNormOp::Backward b;
  b.dy = memory.random<T>(count, 7);
  if (c.more) b.more_dy = memory.random<T>(count, 8);
  b.x = f.x;
  b.gamma = norm.gamma;
  b.saved = f.saved;
  b.dx = memory.bytes(desc.bytes());
  b.dgamma = norm.dgamma;
  b.dbeta = norm.dbeta;
  b.scratch = memory.bytes(op->scratch_bytes());
  op->backward(b, sum);
  out["dx"] = wide(static_cast<T*>(b.dx), desc.elements());
  norm.read(out, "norm");
  f.y = memory.bytes(count * sizeof(T));
  f.scratch = memory.bytes(op->scratch_bytes());
  op->forward_inference(f);
  out["inference"] = wide(static_cast<T*>(f.y), count);
  return out;
}

template <class T>
void compare_pool(const Case& c, int pad, const Outcome& want) {
  SCOPED_TRACE("padded by " + std::to_string(pad));
  compare<T>(c, want, [pad](const Case& same, test::HostKernels kernels) {
    return pool_at_once<T>(same, pad, std::move(kernels));
  });
}

TEST(BatchNormPool, OfEveryModelsShapeIsTheTwoApart) {
  std::set<std::tuple<int, int, int>> seen;
  for (const auto& [h, w, channels] : test::shapes_of("MaxPool")) {
    for (const int pad : {0, 1}) {
      const Case c{{1, channels, h, w}, true, false};
      const Outcome want = pool_apart(c, pad);
      compare_pool<BFloat16>(c, pad, want);
      compare_pool<Float16>(c, pad, want);
    }
    seen.emplace(h, w, channels);
  }
  EXPECT_GE(seen.size(), 4U);
}

TEST(BatchNormPool, OfEveryKindIsTheTwoApart) {
  for (const Shape& shape : {Shape{2, 8, 9, 7}, Shape{3, 24, 6, 11}, Shape{1, 64, 3, 3}, Shape{2, 264, 5, 4},
                             Shape{1, 16, 1, 2}, Shape{5, 2048, 2, 2}}) {
    for (int kind = 0; kind < 8; ++kind) {
      const int pad = kind / 4;
      if (std::min(shape.h, shape.w) + 2 * pad < 3) continue;
      const Case c{shape, (kind & 1) != 0, (kind & 2) != 0};
      const Outcome want = pool_apart(c, pad);
      compare_pool<float>(c, pad, want);
      compare_pool<BFloat16>(c, pad, want);
      compare_pool<Float16>(c, pad, want);
    }
  }
}

TEST(BatchNormPool, IsThereWhereChannelsAreWideAndWindowsTheUsualOnes) {
  const auto is_there = [](BatchNormPoolParams params, DType dtype, test::HostKernels kernels = {}) {
    Numbers memory(std::move(kernels));
    params.input.dtype = dtype;
    return memory.backend().make_batch_norm_pool(params) != nullptr;
  };
  const auto of = [](int channels) { return TensorDesc{{2, channels, 6, 6}, Layout::nhwc}; };
  for (const int channels : {1, 3, 7, 20, 33}) EXPECT_FALSE(is_there({.input = of(channels)}, DType::bf16)) << channels;
  EXPECT_TRUE(is_there({.input = of(20)}, DType::f32));
  EXPECT_TRUE(is_there({.input = of(64), .pad = 1}, DType::f16));
  EXPECT_FALSE(is_there({.input = of(64)}, DType::bf16, {.plain = true}));
  EXPECT_FALSE(is_there({.input = of(64), .kernel = 2}, DType::bf16));
  EXPECT_FALSE(is_there({.input = of(64), .stride = 1}, DType::bf16));
  EXPECT_FALSE(is_there({.input = of(64), .pad = 2}, DType::bf16));
}

TEST(BatchNormPair, OfEveryModelsShapeIsTheTwoApart) {
  std::set<std::pair<int, int>> seen;
  for (const auto& [h, w, channels] : test::shapes_of("BatchNormAdd")) {
    if (!seen.emplace(h * w, channels).second) continue;
    const Case c{{1, channels, h, w}, true, false};
    const Outcome want = pair_apart(c);
    compare<BFloat16>(c, want, pair_at_once<BFloat16>);
    compare<Float16>(c, want, pair_at_once<Float16>);
  }
  EXPECT_GE(seen.size(), 11U);
}

TEST(BatchNormPair, OfEveryKindIsTheTwoApart) {
  for (const int channels : {8, 24, 64, 80, 264, 2048}) {
    for (const int rows : {1, 2, 37, 700}) {
      if (channels > 300 && rows > 100) continue;
      for (int kind = 0; kind < 4; ++kind) {
        const Case c{{1, channels, rows, 1}, (kind & 1) != 0, (kind & 2) != 0};
        const Outcome want = pair_apart(c);
        compare<float>(c, want, pair_at_once<float>);
        // Of one row the gradient is what rounding leaves of zero, which 16 bits do not hold.
        if (rows == 1) continue;
        compare<BFloat16>(c, want, pair_at_once<BFloat16>);
        compare<Float16>(c, want, pair_at_once<Float16>);
      }
    }
  }
}

TEST(BatchNormPair, IsThereWhereChannelsAreWide) {
  const auto is_there = [](int channels, DType dtype, bool plain) {
    Numbers memory({.plain = plain});
    const BatchNormPairParams params{.input = {{2, channels, 3, 3}, Layout::nhwc, dtype}};
    return memory.backend().make_batch_norm_pair(params) != nullptr;
  };
  for (const int channels : {1, 3, 7, 20, 33}) EXPECT_FALSE(is_there(channels, DType::bf16, false)) << channels;
  EXPECT_TRUE(is_there(20, DType::f32, false));
  EXPECT_FALSE(is_there(64, DType::bf16, true));
}

}  // namespace
}  // namespace trainyard
