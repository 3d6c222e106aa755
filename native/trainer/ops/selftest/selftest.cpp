#include "trainer/ops/selftest/selftest.h"

#include <array>

#include "trainer/base/random.h"
#include "trainer/ops/selftest/bench.h"
#include "trainer/ops/selftest/fused.h"

namespace trainyard {

namespace {

using selftest_detail::Comparison;
using selftest_detail::normal_numbers;
using selftest_detail::Result;
using selftest_detail::Side;

/// Sums of up to some thousand products in fp32 differ by some 1e-6 from order to order; TF32 would
/// be at 3e-4.
constexpr double kSums = 1e-5;
/// Of products whose factors keep 11 bits: an error of up to 2^-11 in each.
constexpr double kTf32 = 1e-3;
/// Half a dozen roundings.
constexpr double kRoundings = 1e-6;

size_t count(const Shape& shape) { return static_cast<size_t>(shape.elements()); }

struct ConvCase {
  Shape in;
  int out, kernel_h, kernel_w, stride, pad_h, pad_w;
};

void conv2d(Comparison& all, const ConvCase& test) {
  const std::string name = "conv2d " + to_string(test.in) + " to " + std::to_string(test.out) + " by " +
                           std::to_string(test.kernel_h) + "x" + std::to_string(test.kernel_w) + "/" +
                           std::to_string(test.stride);
  all.run(name, kSums, [&](Side& side) -> std::vector<Result> {
    const Conv2dParams p{side.channels_last(test.in),
                         test.out,
                         test.kernel_h,
                         test.kernel_w,
                         test.stride,
                         test.stride,
                         test.pad_h,
                         test.pad_w};
    const auto op = side.backend().make_conv2d(p);
    const size_t weights = static_cast<size_t>(test.out) * test.in.c * test.kernel_h * test.kernel_w;
    float* w = side.floats(normal_numbers(weights, 2));
    const auto packed = [&](size_t bytes, void (Conv2dOp::*pack)(const float*, void*)) -> const void* {
      if (bytes == 0) return w;
      void* memory = side.scratch(bytes);
      (op.get()->*pack)(w, memory);
      return memory;
    };
    void* x = side.put(p.input, normal_numbers(count(test.in), 1));
    void* y = side.buffer(op->output());
    op->forward(x, packed(op->forward_weights_bytes(), &Conv2dOp::pack_forward), y,
                side.scratch(op->forward_scratch_bytes()));
    void* dy = side.put(op->output(), normal_numbers(count(p.output_shape()), 3));
    void* dx = side.buffer(p.input);
    op->backward_data(dy, packed(op->backward_weights_bytes(), &Conv2dOp::pack_backward), dx,
                      side.scratch(op->backward_data_scratch_bytes()));
    float* dw = side.poisoned(weights);
    op->backward_weights(x, dy, dw, side.scratch(op->backward_weights_scratch_bytes()));
    return {{"y", side.take(op->output(), y)}, {"dx", side.take(p.input, dx)}, {"dw", side.read(dw, weights)}};
  });
}

void batch_norm(Comparison& all, const Shape& shape, bool residual, bool relu) {
  const std::string name = "batch norm " + to_string(shape) + (residual ? " + add" : "") + (relu ? " + ReLU" : "");
  all.run(name, kRoundings, [&](Side& side) -> std::vector<Result> {
    BatchNormParams p;
    p.input = side.channels_last(shape);
    p.residual = residual;
    p.relu = relu;
    const auto op = side.backend().make_batch_norm(p);
    const auto channels = static_cast<size_t>(shape.c);
    BatchNormOp::Forward f;
    f.x = side.put(p.input, normal_numbers(count(shape), 11));
    if (residual) f.residual = side.put(p.input, normal_numbers(count(shape), 12));
    f.y = side.buffer(p.input);
    f.gamma = side.floats(normal_numbers(channels, 13));
    f.beta = side.floats(normal_numbers(channels, 14));
    f.running_mean = side.floats(std::vector<float>(channels, 0.0F));
    f.running_var = side.floats(std::vector<float>(channels, 1.0F));
    f.saved = side.scratch(op->saved_bytes());
    f.scratch = side.scratch(op->scratch_bytes());
    op->forward_training(f, {});
    BatchNormOp::Backward b;
    b.dy = side.put(p.input, normal_numbers(count(shape), 15));
    if (residual) b.more_dy = side.put(p.input, normal_numbers(count(shape), 16));
    b.x = f.x;
    b.y = f.y;
    b.gamma = f.gamma;
    b.beta = f.beta;
    b.saved = f.saved;
    b.dx = side.buffer(p.input);
    b.dgamma = side.poisoned(channels);
    b.dbeta = side.poisoned(channels);
    b.scratch = side.scratch(op->scratch_bytes());
    op->backward(b, {});
    std::vector<Result> results{{"y", side.take(p.input, f.y)},
                                {"running mean", side.read(f.running_mean, channels)},
                                {"running variance", side.read(f.running_var, channels)},
                                {"dx", side.take(p.input, b.dx)},
                                {"dgamma", side.read(b.dgamma, channels)},
                                {"dbeta", side.read(b.dbeta, channels)}};
    f.y = side.buffer(p.input);
    op->forward_inference(f);
    results.push_back({"y of inference", side.take(p.input, f.y)});
    return results;
  });
}

void pooling(Comparison& all) {
  const Shape shape{2, 64, 56, 56};
  all.run("max pool " + to_string(shape) + " 3x3/2", 0, [&](Side& side) -> std::vector<Result> {
    const TensorDesc in = side.channels_last(shape);
    const auto op = side.backend().make_max_pool({in, 3, 2, 1, true});
    void* y = side.buffer(op->output());
    void* workspace = side.scratch(op->workspace_bytes());
    op->forward(side.put(in, normal_numbers(count(shape), 21)), y, workspace, side.scratch(op->scratch_bytes()));
    // Whole numbers: sums of up to four of them are the same in any order.
    std::vector<float> dy = normal_numbers(count(op->output().shape), 22);
    for (float& value : dy) value = static_cast<float>(static_cast<int>(8 * value));
    void* dx = side.buffer(in);
    op->backward(side.put(op->output(), dy), workspace, dx, side.scratch(op->scratch_bytes()));
    return {{"y", side.take(op->output(), y)}, {"dx", side.take(in, dx)}};
  });
  const Shape mixed{2, 96, 17, 17};
  for (const auto& [kernel, stride, pad] : {std::array{3, 1, 1}, std::array{5, 3, 0}}) {
    const std::string window = std::to_string(kernel) + "x" + std::to_string(kernel) + "/" + std::to_string(stride);
    all.run("average pool " + to_string(mixed) + " " + window, kRoundings, [&](Side& side) -> std::vector<Result> {
      const TensorDesc in = side.channels_last(mixed);
      const auto op = side.backend().make_avg_pool({in, kernel, stride, pad, true});
      void* y = side.buffer(op->output());
      op->forward(side.put(in, normal_numbers(count(mixed), 25)), y, side.scratch(op->scratch_bytes()));
      void* dx = side.buffer(in);
      op->backward(side.put(op->output(), normal_numbers(count(op->output().shape), 26)), dx,
                   side.scratch(op->scratch_bytes()));
      return {{"y", side.take(op->output(), y)}, {"dx", side.take(in, dx)}};
    });
  }
  const Shape last{3, 512, 7, 7};
  all.run("global average pool " + to_string(last), kRoundings, [&](Side& side) -> std::vector<Result> {
    const TensorDesc in = side.channels_last(last);
    const auto op = side.backend().make_global_avg_pool(in);
    void* y = side.buffer(op->output());
    op->forward(side.put(in, normal_numbers(count(last), 23)), y);
    void* dx = side.buffer(in);
    op->backward(side.put(op->output(), normal_numbers(count(op->output().shape), 24)), dx);
    return {{"y", side.take(op->output(), y)}, {"dx", side.take(in, dx)}};
  });
}

void linear(Comparison& all, const LinearParams& of_fp32) {
  const LinearParams& q = of_fp32;
  const std::string name = "linear " + std::to_string(q.batch) + "x" + std::to_string(q.in) + " to " +
                           std::to_string(q.out) + (q.relu ? " + ReLU" : "");
  all.run(name, kSums, [&](Side& side) -> std::vector<Result> {
    LinearParams p = of_fp32;
    p.input = side.dtype();
    p.output = p.relu ? side.dtype() : DType::f32;  // logits are fp32
    const TensorDesc in = side.plain({p.batch, p.in, 1, 1});
    const TensorDesc out{{p.batch, p.out, 1, 1}, Layout::nchw, p.output};
    const size_t weights = static_cast<size_t>(p.in) * p.out;
    const auto op = side.backend().make_linear(p);
    void* x = side.put(in, normal_numbers(in.elements(), 31));
    std::vector<float> factors = normal_numbers(weights, 32);
    for (float& factor : factors) factor = side.rounded(factor);  // so that both sides' ReLU lets the same pass
    float* w = side.floats(factors);
    void* y = side.buffer(out);
    op->forward(x, w, side.floats(normal_numbers(static_cast<size_t>(p.out), 33)), y);
    const std::vector<float> gradient = normal_numbers(out.elements(), 34);
    void* dy = p.relu ? side.put(out, gradient) : side.floats(gradient);
    op->backward_relu(y, dy);
    void* dx = side.buffer(in);
    float* dw = side.poisoned(weights);
    float* db = side.poisoned(static_cast<size_t>(p.out));
    op->backward_data(dy, w, dx);
    op->backward_weights(x, dy, dw, db);
    return {{"y", p.relu ? side.take(out, y) : side.read(y, out.elements())},
            {"dx", side.take(in, dx)},
            {"dw", side.read(dw, weights)},
            {"db", side.read(db, static_cast<size_t>(p.out))}};
  });
}

void elementwise(Comparison& all) {
  const Shape shape{4, 16, 15, 15};
  all.run("shortcut " + to_string(shape) + " to 32 /2", 0, [&](Side& side) -> std::vector<Result> {
    const TensorDesc desc = side.channels_last(shape);
    const auto op = side.backend().make_shortcut(desc, 32, 2);
    void* y = side.buffer(op->output());
    op->forward(side.put(desc, normal_numbers(count(shape), 41)), y);
    void* dx = side.buffer(desc);
    op->backward(side.put(op->output(), normal_numbers(count(op->output().shape), 42)), dx);
    return {{"y", side.take(op->output(), y)}, {"dx", side.take(desc, dx)}};
  });
  all.run("add " + to_string(shape), 0, [&](Side& side) -> std::vector<Result> {
    const TensorDesc desc = side.channels_last(shape);
    void* sum = side.put(desc, normal_numbers(count(shape), 43));
    side.backend().make_add(desc)->run(sum, side.put(desc, normal_numbers(count(shape), 44)));
    return {{"sum", side.take(desc, sum)}};
  });
  all.run("concatenation of 16 and 40 channels", 0, [&](Side& side) -> std::vector<Result> {
    const TensorDesc desc = side.channels_last(shape);
    const TensorDesc wide = side.channels_last({4, 40, 15, 15});
    const auto op = side.backend().make_concat({desc, wide});
    const std::array<const void*, 2> parts{side.put(desc, normal_numbers(count(desc.shape), 46)),
                                           side.put(wide, normal_numbers(count(wide.shape), 47))};
    void* y = side.buffer(op->output());
    op->forward(parts, y);
    const std::array<void*, 2> dparts{side.buffer(desc), side.buffer(wide)};
    op->backward(side.put(op->output(), normal_numbers(count(op->output().shape), 48)), dparts);
    return {{"y", side.take(op->output(), y)},
            {"first", side.take(desc, dparts[0])},
            {"second", side.take(wide, dparts[1])}};
  });
  const Shape vector{7, 2048, 1, 1};
  all.run("dropout " + to_string(vector), 0, [&](Side& side) -> std::vector<Result> {
    const TensorDesc plain = side.plain(vector);
    void* x = side.put(plain, normal_numbers(count(vector), 49));
    constexpr uint64_t kFirst = 1234567890123ULL;
    void* first = side.scratch(sizeof(kFirst));
    side.backend().from_host(first, &kFirst, sizeof(kFirst));
    side.backend().make_dropout({plain, 0.5F, 50})->run(x, x, static_cast<const uint64_t*>(first));
    return {{"y", side.take(plain, x)}};
  });
  const Shape images{3, 3, 33, 31};
  all.run("input " + to_string(images), 0, [&](Side& side) -> std::vector<Result> {
    Random random{45};
    std::vector<uint8_t> pixels(count(images));
    for (uint8_t& byte : pixels) byte = static_cast<uint8_t>(random.below(256));
    const TensorDesc out = side.channels_last(images);
    void* y = side.buffer(out);
    side.backend()
        .make_input(out, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F})
        ->forward(pixels.data(), images.n - 1, y);
    return {{"y", side.take(out, y)}};
  });
}

/// mixed: of images that are mixtures of two.
void loss(Comparison& all, bool mixed) {
  constexpr int kImages = 9;
  constexpr int kClasses = 1000;
  all.run(std::string("softmax cross entropy 9x1000") + (mixed ? ", mixed" : ""), kRoundings,
          [&](Side& side) -> std::vector<Result> {
            Random random{51};
            std::vector<int32_t> labels(kImages);
            for (int32_t& label : labels) label = static_cast<int32_t>(random.below(kClasses));
            std::vector<int32_t> others(kImages);
            for (int32_t& label : others) label = static_cast<int32_t>(random.below(kClasses));
            std::vector<float> logits = normal_numbers(size_t{kImages} * kClasses, 52);
            logits[static_cast<size_t>(labels[0])] = 9;  // one image is right
            float* z = side.floats(logits);
            float* dz = side.poisoned(logits.size());
            const auto op = side.backend().make_softmax_cross_entropy(kClasses);
            op->take_labels({labels.data(), kImages, mixed ? others.data() : nullptr, 0.625F});
            op->run(z, dz, 1.0F / kImages, 0.1F);
            const LossResult result = op->result();
            return {{"loss", {static_cast<float>(result.loss_sum)}},
                    {"top 1 and 5", {static_cast<float>(result.top1), static_cast<float>(result.top5)}},
                    {"dlogits", side.read(dz, logits.size())}};
          });
}

/// The kinds of convolution in ResNets and Inception: stem, 3x3, 1x1, strided ones, long windows,
/// odd channels.
void convolutions(Comparison& all) {
  for (const ConvCase& test : {ConvCase{{2, 3, 64, 64}, 64, 7, 7, 2, 3, 3},
                               {{2, 64, 14, 14}, 64, 3, 3, 1, 1, 1},
                               {{2, 64, 14, 14}, 128, 3, 3, 2, 1, 1},
                               {{2, 128, 14, 14}, 256, 1, 1, 2, 0, 0},
                               {{2, 256, 7, 7}, 64, 1, 1, 1, 0, 0},
                               {{2, 64, 9, 9}, 64, 1, 7, 1, 0, 3},
                               {{2, 64, 9, 9}, 64, 7, 1, 1, 3, 0},
                               {{3, 20, 11, 13}, 36, 5, 5, 1, 2, 2},
                               {{3, 17, 6, 5}, 33, 3, 3, 1, 1, 1}}) {
    conv2d(all, test);
  }
}

/// Convolutions at once, whose filters fit a block's shared memory, do not, and begin between 16-byte
/// boundaries; and one whose packed weights are transposed.
void packed_weights(Comparison& all) {
  all.run("packed weights", 0, [&](Side& side) -> std::vector<Result> {
    std::vector<PackedWeights> jobs{{.out = 5, .in = 3, .kernel_h = 7, .kernel_w = 7},
                                    {.out = 3, .in = 600, .kernel_h = 3, .kernel_w = 3},
                                    {.out = 65, .in = 64},
                                    {.out = 70, .in = 200, .transposed = true}};
    size_t elements = 0;
    for (PackedWeights& job : jobs) {
      job.offset = elements;
      job.dtype = side.dtype();
      job.to = side.scratch(job.bytes());
      elements += job.bytes() / dtype_bytes(job.dtype);
    }
    const std::vector<float> weights = normal_numbers(elements, 61);
    if (side.backend().packs_at_once()) side.backend().make_pack(jobs)->run(side.floats(weights));
    std::vector<Result> results;
    for (const PackedWeights& job : jobs) {
      Shape filters{job.out, job.in, job.kernel_h, job.kernel_w};
      const auto begin = weights.begin() + static_cast<ptrdiff_t>(job.offset);
      std::vector<float> own(begin, begin + static_cast<ptrdiff_t>(count(filters)));
      if (job.transposed) {
        std::swap(filters.n, filters.c);
        for (size_t i = 0; i < own.size(); ++i) {
          own[i % static_cast<size_t>(job.in) * static_cast<size_t>(job.out) + i / static_cast<size_t>(job.in)] =
              *(begin + static_cast<ptrdiff_t>(i));
        }
      }
      const TensorDesc packed = side.channels_last(filters);
      results.push_back({"weights of " + to_string(filters),
                         side.take(packed, side.backend().packs_at_once() ? job.to : side.put(packed, own))});
    }
    return results;
  });
}

void products(Comparison& all) {
  linear(all, {6, 512, 1000, false});
  linear(all, {32, 784, 128, true});
  // Each tile of our products, with rows left over, and one of more tiles than a device has blocks.
  selftest_detail::normalised_convolution(all, {2, 64, 9, 9}, 64);
  selftest_detail::normalised_convolution(all, {12, 64, 28, 28}, 128);
  selftest_detail::normalised_convolution(all, {3, 64, 13, 13}, 256);
  selftest_detail::normalised_convolution(all, {3, 128, 13, 13}, 128);
  selftest_detail::normalised_convolution(all, {3, 128, 13, 13}, 512);
  selftest_detail::normalised_convolution(all, {3, 256, 13, 13}, 64);
  selftest_detail::normalised_convolution(all, {3, 256, 13, 13}, 128);
  selftest_detail::normalised_convolution(all, {3, 256, 13, 13}, 256);
  selftest_detail::normalised_convolution(all, {2, 512, 11, 11}, 128);
  selftest_detail::normalised_convolution(all, {2, 512, 11, 11}, 256);
  using selftest_detail::ended_gradient;
  ended_gradient(all, {3, 64, 13, 13}, 256, GradientEndKind::inner);
  ended_gradient(all, {3, 128, 13, 13}, 512, GradientEndKind::inner);
  selftest_detail::merged_gradient(all, {3, 64, 13, 13}, 256);
  selftest_detail::merged_gradient(all, {12, 64, 28, 28}, 256);
  selftest_detail::merged_gradient(all, {3, 128, 13, 13}, 512);
  ended_gradient(all, {3, 128, 13, 13}, 64, GradientEndKind::mask);
  ended_gradient(all, {3, 256, 13, 13}, 128, GradientEndKind::mask);
  ended_gradient(all, {3, 512, 13, 13}, 256, GradientEndKind::mask);
  for (const GradientEndKind kind : {GradientEndKind::block, GradientEndKind::pair}) {
    ended_gradient(all, {3, 128, 13, 13}, 64, kind);
    ended_gradient(all, {12, 256, 28, 28}, 64, kind);
    ended_gradient(all, {3, 384, 13, 13}, 128, kind);
    ended_gradient(all, {3, 256, 13, 13}, 128, kind);
    ended_gradient(all, {3, 512, 13, 13}, 256, kind);
    ended_gradient(all, {2, 1024, 11, 11}, 512, kind);
  }
  convolutions(all);
}

void every_op(Comparison& all) {
  elementwise(all);
  for (const bool residual : {false, true}) {
    for (const bool relu : {false, true}) batch_norm(all, {4, 40, 14, 14}, residual, relu);
  }
  batch_norm(all, {2, 3, 30, 30}, false, true);
  // Several tiles of channels, and as many blocks as a large layer has.
  batch_norm(all, {2, 2048, 7, 7}, true, true);
  batch_norm(all, {4, 64, 28, 28}, false, true);
  selftest_detail::batch_norm_pair(all, {4, 40, 14, 14});
  selftest_detail::batch_norm_pair(all, {2, 2048, 7, 7});
  selftest_detail::batch_norm_pool(all, {2, 64, 28, 28}, 1);
  selftest_detail::batch_norm_pool(all, {3, 24, 9, 14}, 0);
  pooling(all);
  packed_weights(all);
  products(all);
}

}  // namespace

std::vector<SelftestRow> selftest(Backend& tested, Backend& reference) {
  Comparison all(tested, reference);
  for (const bool mixed : {false, true}) loss(all, mixed);  // of fp32, whatever the network stores
  every_op(all);
  for (const auto& [dtype, name] : {std::pair{DType::bf16, " in bf16"}, {DType::f16, " in fp16"}}) {
    if (!tested.stores(dtype)) continue;
    all.store(dtype, name);
    every_op(all);
  }
  if (tested.allow_tf32()) {
    all.store(DType::f32, " in TF32");
    all.widen(kTf32);
    products(all);
  }
  return std::move(all.rows);
}

}  // namespace trainyard
