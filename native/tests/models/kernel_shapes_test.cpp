// The CUDA back end's kernels of blocks and of 16-byte loads, played on the host, beside the kernels
// that take a number at a time: every shape that a model has, and rows that end in the middle of a
// block.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/models/kernel_numbers.h"
#include "trainer/ops/cuda/math/norm/norm_forward_blocks.h"
#include "trainer/ops/cuda/math/repack.h"

namespace trainyard {
namespace {

using test::apart;
using test::kStored;
using test::Numbers;
using test::shapes_of;
using test::wide;

struct NormCase {
  int rows = 1, channels = 1;
  bool residual = false, relu = false, more = false, over_ranks = false;
};

struct NormOutcome {
  std::vector<float> y, inference, dx, dresidual, dgamma, dbeta, mean, variance;
  bool operator==(const NormOutcome&) const = default;
};

template <class T>
NormOutcome normalise(const NormCase& c, test::HostKernels kernels) {
  Numbers memory(kernels);
  BatchNormParams params;
  params.input = {{1, c.channels, c.rows, 1}, Layout::nhwc, kStored<T>};
  params.residual = c.residual;
  params.relu = c.relu;
  const auto op = memory.backend().make_batch_norm(params);
  const auto channels = static_cast<size_t>(c.channels);
  const size_t count = params.input.elements();
  const SumOverRanks sum = !c.over_ranks ? SumOverRanks() : [](double* values, size_t n) {
    for (size_t i = 0; i < n; ++i) values[i] *= 2;
  };
  BatchNormOp::Forward f;
  f.x = memory.random<T>(count, 1, 0.5F);
  f.residual = memory.random<T>(count, 2);
  f.y = memory.bytes(count * sizeof(T));
  f.gamma = memory.random<float>(channels, 3, 2.5F);
  f.beta = memory.random<float>(channels, 4);
  f.running_mean = memory.random<float>(channels, 5);
  f.running_var = memory.random<float>(channels, 6, 3);
  f.saved = memory.bytes(op->saved_bytes());
  f.scratch = memory.bytes(op->scratch_bytes());
  op->forward_training(f, sum);
  NormOutcome out;
  out.y = wide(static_cast<T*>(f.y), count);
  BatchNormOp::Backward b;
  b.dy = memory.random<T>(count, 7);
  if (c.more) b.more_dy = memory.random<T>(count, 8);
  b.x = f.x;
  b.y = f.y;
  b.gamma = f.gamma;
  b.beta = f.beta;
  b.saved = f.saved;
  b.dx = c.residual ? memory.bytes(count * sizeof(T)) : b.dy;
  b.dgamma = static_cast<float*>(memory.bytes(channels * sizeof(float)));
  b.dbeta = static_cast<float*>(memory.bytes(channels * sizeof(float)));
  b.scratch = memory.bytes(op->scratch_bytes());
  op->backward(b, sum);
  out.dx = wide(static_cast<T*>(b.dx), count);
  if (c.residual) out.dresidual = wide(static_cast<T*>(b.dy), count);
  out.dgamma = wide(b.dgamma, channels);
  out.dbeta = wide(b.dbeta, channels);
  out.mean = wide(f.running_mean, channels);
  out.variance = wide(f.running_var, channels);
  f.y = memory.bytes(count * sizeof(T));
  f.scratch = memory.bytes(op->scratch_bytes());
  op->forward_inference(f);
  out.inference = wide(static_cast<T*>(f.y), count);
  return out;
}

template <class T>
void expect_near(const NormCase& c, const NormOutcome& got, const NormOutcome& want) {
  // Statistics differ in the last bits of fp32, which tips a rounding now and then.
  const double last_bits = 4e-7;
  const double rounding = last_bits + (std::is_same_v<T, float> ? 0 : std::is_same_v<T, BFloat16> ? 0x1p-8 : 0x1p-11);
  EXPECT_LT(apart(got.y, want.y), rounding);
  EXPECT_LT(apart(got.dx, want.dx), 2 * rounding);
  if (c.residual) EXPECT_LT(apart(got.dresidual, want.dresidual), last_bits);
  EXPECT_LT(apart(got.dgamma, want.dgamma), 4 * last_bits);
  EXPECT_LT(apart(got.dbeta, want.dbeta), 4 * last_bits);
  EXPECT_LT(apart(got.mean, want.mean), last_bits);
  EXPECT_LT(apart(got.variance, want.variance), last_bits);
  EXPECT_TRUE(got.inference == want.inference || apart(got.inference, want.inference) < rounding);
}

template <class T>
void compare(const NormCase& c) {
  SCOPED_TRACE(std::to_string(c.rows) + " rows, " + std::to_string(c.channels) + " channels, " +
               std::to_string(sizeof(T)) + " bytes" + (c.residual ? ", residual" : "") + (c.relu ? ", relu" : "") +
               (c.more ? ", more" : "") + (c.over_ranks ? ", over ranks" : ""));
  const NormOutcome got = normalise<T>(c, {});
  EXPECT_TRUE(got == normalise<T>(c, {.forwards = true})) << "the order of threads or blocks matters";
  EXPECT_TRUE(got == normalise<T>(c, {.passing_blocks = 1})) << "the number of blocks that pass matters";
  const NormOutcome want = normalise<T>(c, {.plain = true});
  expect_near<T>(c, got, want);
  // One block has many rows, of which a thread takes several at a time.
  expect_near<T>(c, normalise<T>(c, {.summing_blocks = 1}), want);
}

TEST(KernelShapes, BatchNormOfEveryModelIsThePlainOne) {
  std::set<std::pair<int, int>> seen;
  for (const auto& [h, w, channels] : shapes_of("BatchNorm")) {
    if (seen.emplace(h * w, channels).second) compare<BFloat16>({h * w, channels, true, true, true});
  }
  EXPECT_GT(seen.size(), 30U);
}

TEST(KernelShapes, BatchNormOfEveryKindIsThePlainOne) {
  for (const int channels : {8, 16, 24, 48, 64, 80, 264, 2048}) {
    for (const int rows : {1, 2, 37, 700}) {
      for (int kind = 0; kind < 16; ++kind) {
        const NormCase c{rows, channels, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0, (kind & 8) != 0};
        if (channels > 300 && rows > 100 && kind != 7) continue;
        compare<float>(c);
        compare<BFloat16>(c);
        compare<Float16>(c);
      }
    }
  }
}

TEST(KernelShapes, BatchNormOfOddChannelsTakesAnyShape) {
  for (const int channels : {1, 3, 7, 20, 33}) compare<BFloat16>({50, channels, true, true, true});
  compare<float>({50, 33, true, true, true});
}

TEST(KernelShapes, SumsOfLongRunsKeepTheirDigits) {
  constexpr unsigned kRows = 256 * 150 + 3;  // a thread adds up 150 rows where one block has them all
  constexpr unsigned kChannels = 16;
  Numbers memory({});
  const auto* x = memory.random<BFloat16>(size_t{kRows} * kChannels, 9, 40);
  std::vector<double> sums(2 * kChannels);
  for (size_t i = 0; i < size_t{kRows} * kChannels; ++i) {
    const double value = static_cast<float>(x[i]);
    sums[i % kChannels] += value;
    sums[kChannels + i % kChannels] += value * value;
  }
  for (const unsigned blocks : {1U, 7U, 264U}) {
    const auto tiles = cuda::NormTiles::of(kRows, kChannels, cuda::kWide<BFloat16>, blocks, 8);
    auto* partial = static_cast<double*>(memory.bytes(cuda::NormFold<BFloat16>::partial_sums(tiles) * sizeof(double)));
    auto* totals = static_cast<double*>(memory.bytes((2 * kChannels + 1) * sizeof(double)));
    unsigned ticket = 0;
    cuda::NormStatistics statistics{};
    statistics.channels = kChannels;
    cuda::blocks(cuda::Launcher{}, tiles.blocks(),
                 cuda::NormSumsBlock<BFloat16>{x, {tiles, partial, &ticket}, {statistics, totals}});
    EXPECT_EQ(ticket, 0U) << "the next kernel begins with it";
    EXPECT_EQ(totals[2 * kChannels], kRows);
    for (size_t c = 0; c < sums.size(); ++c) EXPECT_NEAR(totals[c], sums[c], 1e-8 * sums[c]) << blocks;
  }
}

/// Bits of max pooling forward and backward.
template <class T>
std::vector<float> max_pool(const Shape& shape, int kernel, int stride, int pad, test::HostKernels kernels) {
  Numbers memory(kernels);
  const MaxPoolParams params{{shape, Layout::nhwc, kStored<T>}, kernel, stride, pad};
  const auto op = memory.backend().make_max_pool(params);
  const size_t out = op->output().elements();
  void* workspace = memory.bytes(op->workspace_bytes());
  auto* y = static_cast<T*>(memory.bytes(out * sizeof(T)));
  auto* dx = static_cast<T*>(memory.bytes(params.input.bytes()));
  op->forward(memory.random<T>(params.input.elements(), 1), y, workspace, nullptr);
  op->backward(memory.random<T>(out, 2), workspace, dx, nullptr);
  std::vector<float> all = wide(y, out);
  const std::vector<float> gradient = wide(dx, params.input.elements());
  all.insert(all.end(), gradient.begin(), gradient.end());
  return all;
}

TEST(KernelShapes, MaxPoolingHasThePlainBits) {
  auto shapes = shapes_of("MaxPool");
  ASSERT_FALSE(shapes.empty());
  shapes.insert({{9, 7, 8}, {6, 11, 24}, {5, 5, 12}});
  for (const auto& [h, w, channels] : shapes) {
    for (const auto& [kernel, stride, pad] : {std::tuple{3, 2, 1}, {3, 2, 0}, {2, 2, 0}, {5, 1, 2}}) {
      if (h > 60 && kernel != 3) continue;
      SCOPED_TRACE(std::to_string(h) + "x" + std::to_string(w) + "x" + std::to_string(channels));
      const Shape shape{2, channels, h, w};
      EXPECT_EQ(max_pool<BFloat16>(shape, kernel, stride, pad, {}),
                max_pool<BFloat16>(shape, kernel, stride, pad, {.plain = true}));
      if (h > 60) continue;
      EXPECT_EQ(max_pool<float>(shape, kernel, stride, pad, {}),
                max_pool<float>(shape, kernel, stride, pad, {.plain = true}));
    }
  }
}

template <class T>
std::pair<std::vector<float>, std::vector<float>> global_mean(const Shape& shape, test::HostKernels kernels) {
  Numbers memory(kernels);
  const TensorDesc input{shape, Layout::nhwc, kStored<T>};
  const auto op = memory.backend().make_global_avg_pool(input);
  const size_t out = op->output().elements();
  auto* y = static_cast<T*>(memory.bytes(out * sizeof(T)));
  auto* dx = static_cast<T*>(memory.bytes(input.bytes()));
  op->forward(memory.random<T>(input.elements(), 1, 0.25F), y);
  op->backward(memory.random<T>(out, 2), dx);
  return {wide(y, out), wide(dx, input.elements())};
}

TEST(KernelShapes, TheGlobalMeanIsThePlainOne) {
  auto shapes = shapes_of("GlobalAvgPool");
  ASSERT_FALSE(shapes.empty());
  shapes.insert({{1, 1, 8}, {3, 5, 24}, {4, 4, 12}});
  for (const auto& [h, w, channels] : shapes) {
    SCOPED_TRACE(std::to_string(h) + "x" + std::to_string(w) + "x" + std::to_string(channels));
    const auto got = global_mean<Float16>({3, channels, h, w}, {});
    const auto want = global_mean<Float16>({3, channels, h, w}, {.plain = true});
    EXPECT_EQ(got.second, want.second);
    EXPECT_LT(apart(got.first, want.first), 0x1p-11 + 1e-6);
    const auto fp32 = global_mean<float>({3, channels, h, w}, {});
    EXPECT_LT(apart(fp32.first, global_mean<float>({3, channels, h, w}, {.plain = true}).first), 4e-7);
  }
}

/// (out, in, kernel_h, kernel_w) of every convolution.
std::set<std::array<int, 4>> convolutions() {
  std::set<std::array<int, 4>> found;
  for (const ModelInfo& model : known_models()) {
    const auto graph = build_model(std::string(model.name), model.image_size, 1000);
    for (const Parameter& p : graph->parameters()) {
      if (p.shape.size() == 4) found.insert({int(p.shape[0]), int(p.shape[1]), int(p.shape[2]), int(p.shape[3])});
    }
  }
  return found;
}

template <class T>
std::vector<float> packed(const std::vector<std::array<int, 4>>& shapes, bool at_once) {
  Numbers memory({});
  std::vector<PackedWeights> all;
  size_t elements = 1;  // so that most filters begin between 16-byte boundaries
  size_t bytes = 0;
  for (const auto& [out, in, h, w] : shapes) {
    all.push_back({.offset = elements, .out = out, .in = in, .kernel_h = h, .kernel_w = w, .dtype = kStored<T>});
    elements += all.back().bytes() / sizeof(T);
    bytes += (all.back().bytes() + 63) / 64 * 64;
  }
  const float* weights = memory.random<float>(elements, 3);
  auto* to = static_cast<std::byte*>(memory.bytes(bytes));
  size_t offset = 0;
  for (PackedWeights& one : all) {
    one.to = to + offset;
    offset += (one.bytes() + 63) / 64 * 64;
    if (at_once) continue;
    const auto window = static_cast<size_t>(one.kernel_h * one.kernel_w);
    const auto in = static_cast<size_t>(one.in);
    for (size_t i = 0; i < one.bytes() / sizeof(T); ++i) {
      const size_t c = i % in;
      const size_t k = i / in % window;
      const size_t o = i / in / window;
      static_cast<T*>(one.to)[i] = static_cast<T>(weights[one.offset + (o * in + c) * window + k]);
    }
  }
  if (at_once) memory.backend().make_pack(all)->run(weights);
  std::vector<float> values;
  for (const PackedWeights& one : all) {
    const auto part = wide(static_cast<const T*>(one.to), one.bytes() / sizeof(T));
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

TEST(KernelShapes, WeightsOfEveryModelArePackedAtOnce) {
  auto all = convolutions();
  EXPECT_GT(all.size(), 50U);
  all.insert({{3, 5, 1, 1}, {2, 24, 15, 15}, {1, 1, 1, 1}, {7, 600, 3, 3}, {130, 8, 1, 7}});
  const std::vector<std::array<int, 4>> shapes(all.begin(), all.end());
  EXPECT_EQ(packed<BFloat16>(shapes, true), packed<BFloat16>(shapes, false));
  EXPECT_EQ(packed<Float16>({{64, 3, 7, 7}, {9, 16, 3, 3}}, true),
            packed<Float16>({{64, 3, 7, 7}, {9, 16, 3, 3}}, false));
  EXPECT_EQ(packed<float>({{64, 3, 7, 7}, {9, 16, 3, 3}}, true), packed<float>({{64, 3, 7, 7}, {9, 16, 3, 3}}, false));
}

TEST(KernelShapes, GradientsOfWeightsComeBackInTheirOrder) {
  auto all = convolutions();
  all.insert({{3, 5, 1, 1}, {2, 24, 15, 15}, {1, 1, 1, 1}, {7, 600, 3, 3}});
  for (const auto& [out, in, h, w] : all) {
    Numbers memory({});
    const cuda::RepackShape shape{static_cast<unsigned>(out), static_cast<unsigned>(in), static_cast<unsigned>(h * w)};
    const size_t count = size_t{shape.out} * shape.in * shape.window;
    const auto* from = memory.random<BFloat16>(count, 5);
    for (const size_t shift : {size_t{0}, size_t{1}}) {
      float* to = static_cast<float*>(memory.bytes((count + shift) * sizeof(float))) + shift;
      cuda::blocks(cuda::Launcher{}, cuda::RepackPart::count(shape), cuda::Unpack<BFloat16>{shape, from, to});
      size_t wrong = 0;
      for (size_t i = 0; i < count; ++i) {
        const size_t k = i % shape.window;
        const size_t c = i / shape.window % shape.in;
        const size_t o = i / shape.window / shape.in;
        wrong += to[i] == static_cast<float>(from[(o * shape.window + k) * shape.in + c]) ? 0U : 1U;
      }
      EXPECT_EQ(wrong, 0U) << out << " " << in << " " << h << " " << w;
    }
  }
}

}  // namespace
}  // namespace trainyard
