// Batch norm on the CPU: sums per image in double, then over the images in order, so the result
// depends neither on the number of threads nor on chance.
#include "trainer/ops/contract/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "trainer/ops/cpu/batch_norm_kernels.h"
#include "trainer/ops/cpu/dnnl_support.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

template <class T>  // in which activations are stored
class CpuBatchNorm final : public BatchNormOp {
 public:
  explicit CpuBatchNorm(const BatchNormParams& params)
      : p_(params),
        channels_(static_cast<size_t>(params.input.shape.c)),
        padded_((static_cast<size_t>(params.input.padded_channels()) + 15) / 16 * 16) {}

  // saved: count, then 1/sqrt(var + eps) in double, then mean, scale and beta in float, each
  // [padded].
  size_t saved_bytes() const override { return 64 + padded_ * (sizeof(double) + 3 * sizeof(float)); }

  // scratch: two sums per image and channel, their totals with the count behind them, and five
  // constants a channel.
  size_t scratch_bytes() const override {
    return (2 * images() * padded_ + 2 * padded_ + 16) * sizeof(double) + 5 * padded_ * sizeof(float);
  }

  void forward_training(const Forward& args, const SumOverRanks& sum) override {
    const Saved saved(args.saved, padded_);
    const Scratch scratch(args.scratch, images(), padded_);
    const auto* x = static_cast<const T*>(args.x);
    for_each_strip(p_.input, [&](const Strip& s, auto width) {
      Compiled<T, &norm_sums<width, T>>::run(x + s.offset, s, scratch.first(s), scratch.second(s));
    });
    sum_images(scratch);
    scratch.totals[2 * channels_] = static_cast<double>(images()) * static_cast<double>(p_.input.shape.pixels());
    if (sum) sum(scratch.totals, 2 * channels_ + 1);
    const double count = scratch.totals[2 * channels_];
    *saved.count = count;
    for (size_t c = 0; c < padded_; ++c) {
      const bool real = c < channels_;
      const double mean = real ? scratch.totals[c] / count : 0;
      const double variance = real ? std::max(scratch.totals[channels_ + c] / count - mean * mean, 0.0) : 0;
      saved.inverse_deviation[c] = 1.0 / std::sqrt(variance + p_.eps);
      saved.constants.mean[c] = static_cast<float>(mean);
      saved.constants.scale[c] = real ? static_cast<float>(args.gamma[c] * saved.inverse_deviation[c]) : 0;
      saved.constants.beta[c] = real ? args.beta[c] : 0;
      if (!real) continue;
      const double unbiased = variance * count / std::max(count - 1, 1.0);
      move(args.running_mean[c], mean);
      move(args.running_var[c], unbiased);
    }
    apply(args, saved.constants);
  }

  void forward_inference(const Forward& args) override {
    const Scratch scratch(args.scratch, images(), padded_);
    const NormConstants& k = scratch.constants;
    for (size_t c = 0; c < padded_; ++c) {
      const bool real = c < channels_;
      k.mean[c] = real ? args.running_mean[c] : 0;
      k.scale[c] = real ? static_cast<float>(args.gamma[c] / std::sqrt(args.running_var[c] + p_.eps)) : 0;
      k.beta[c] = real ? args.beta[c] : 0;
    }
    apply(args, k);
  }

  void backward(const Backward& args, const SumOverRanks& sum) override {
    const Saved saved(readable(args.saved), padded_);
    const Scratch scratch(args.scratch, images(), padded_);
    const bool stored = p_.residual || args.more_dy != nullptr;
    gradient_sums(args, saved.constants, scratch, stored);
    sum_images(scratch);
    for (size_t c = 0; c < channels_; ++c) {
      args.dbeta[c] = static_cast<float>(scratch.totals[c]);
      args.dgamma[c] = static_cast<float>(scratch.totals[channels_ + c] * saved.inverse_deviation[c]);
    }
    if (sum) sum(scratch.totals, 2 * channels_);
    const double count = *saved.count;
    for (size_t c = 0; c < padded_; ++c) {
      const bool real = c < channels_;
      const double scale = real ? args.gamma[c] * saved.inverse_deviation[c] : 0;
      const double mean_gradient = real ? scratch.totals[c] / count : 0;
      const double inverse = saved.inverse_deviation[c];
      const double mean_product = real ? scratch.totals[channels_ + c] * inverse * inverse / count : 0;
      scratch.slope[c] = static_cast<float>(-scale * mean_product);
      scratch.offset[c] = static_cast<float>(-scale * mean_gradient);
    }
    const auto* dy = static_cast<const T*>(args.dy);
    const auto* x = static_cast<const T*>(args.x);
    auto* dx = static_cast<T*>(args.dx);
    const bool mask = p_.relu && !stored;
    for_each_strip(p_.input, [&](const Strip& s, auto width) {
      const auto kernel = mask ? &Compiled<T, &norm_gradient<width, Mask::input, T>>::run
                               : &Compiled<T, &norm_gradient<width, Mask::none, T>>::run;
      kernel(dy + s.offset, x + s.offset, dx + s.offset, s, saved.constants, scratch.slope, scratch.offset);
    });
  }

 private:
  /// What backward needs of forward, laid over the caller's memory.
  struct Saved {
    double* count;
    double* inverse_deviation;  // [padded]
    NormConstants constants;

    Saved(void* memory, size_t padded) {
      count = static_cast<double*>(memory);
      inverse_deviation = count + 8;
      auto* floats = reinterpret_cast<float*>(inverse_deviation + padded);
      constants = {floats, floats + padded, floats + 2 * padded};
    }
  };

  struct Scratch {
    size_t padded;
    double* sums;    // [image][2][padded]
    double* totals;  // [2][c] and the count
    NormConstants constants;
    float* slope;   // [padded]
    float* offset;  // [padded]

    Scratch(void* memory, size_t images, size_t channels) : padded(channels) {
      sums = static_cast<double*>(memory);
      totals = sums + 2 * images * padded;
      auto* floats = reinterpret_cast<float*>(totals + 2 * padded + 16);
      constants = {floats, floats + padded, floats + 2 * padded};
      slope = floats + 3 * padded;
      offset = floats + 4 * padded;
    }
    double* first(const Strip& s) const { return sums + 2 * s.image * padded + s.channel; }
    double* second(const Strip& s) const { return first(s) + padded; }
  };

  size_t images() const { return static_cast<size_t>(p_.input.shape.n); }
  static void* readable(const void* data) {
    return const_cast<void*>(data);
  }  // NOLINT(cppcoreguidelines-pro-type-const-cast)

  void move(float& running, double now) const {
    running = static_cast<float>((1.0 - p_.momentum) * running + p_.momentum * now);
  }

  void sum_images(const Scratch& scratch) const {
    std::fill(scratch.totals, scratch.totals + 2 * channels_, 0.0);
    for (size_t n = 0; n < images(); ++n) {
      const double* image = scratch.sums + 2 * n * padded_;
      for (size_t c = 0; c < channels_; ++c) {
        scratch.totals[c] += image[c];
        scratch.totals[channels_ + c] += image[padded_ + c];
      }
    }
  }

  void apply(const Forward& args, const NormConstants& k) const {
    const auto* x = static_cast<const T*>(args.x);
    const auto* residual = static_cast<const T*>(args.residual);
    auto* y = static_cast<T*>(args.y);
    for_each_strip(p_.input, [&](const Strip& s, auto width) {
      const T* from = x + s.offset;
      T* to = y + s.offset;
      if (p_.residual) {
        const auto kernel = p_.relu ? &Compiled<T, &norm_apply<width, true, true, T>>::run
                                    : &Compiled<T, &norm_apply<width, true, false, T>>::run;
        kernel(from, residual + s.offset, to, s, k);
      } else {
        const auto kernel = p_.relu ? &Compiled<T, &norm_apply<width, false, true, T>>::run
                                    : &Compiled<T, &norm_apply<width, false, false, T>>::run;
        kernel(from, from, to, s, k);
      }
    });
  }

  template <int width, bool add, bool store>
  auto gradient_kernel() const {
    if (!p_.relu) return &Compiled<T, &norm_gradient_sums<width, Mask::none, add, store, T>>::run;
    return p_.residual ? &Compiled<T, &norm_gradient_sums<width, Mask::output, add, store, T>>::run
                       : &Compiled<T, &norm_gradient_sums<width, Mask::input, add, store, T>>::run;
  }

  void gradient_sums(const Backward& args, const NormConstants& k, const Scratch& scratch, bool stored) const {
    auto* dy = static_cast<T*>(args.dy);
    const auto* more = static_cast<const T*>(args.more_dy);
    const auto* x = static_cast<const T*>(args.x);
    const auto* y = static_cast<const T*>(args.y);
    for_each_strip(p_.input, [&](const Strip& s, auto width) {
      const auto kernel = more != nullptr ? this->template gradient_kernel<width, true, true>()
                          : stored        ? this->template gradient_kernel<width, false, true>()
                                          : this->template gradient_kernel<width, false, false>();
      kernel(dy + s.offset, more != nullptr ? more + s.offset : nullptr, x + s.offset,
             y != nullptr ? y + s.offset : nullptr, s, k, scratch.first(s), scratch.second(s));
    });
  }

  BatchNormParams p_;
  size_t channels_;
  size_t padded_;  // a multiple of 16, so that every strip may read whole vectors
};

}  // namespace

std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormParams& params) {
  if (params.input.dtype == DType::bf16 && has_isa(dnnl_cpu_isa_avx512_core_bf16)) {
    return std::make_unique<CpuBatchNorm<MachineBFloat16>>(params);
  }
  return with_storage(params.input.dtype, [&]<class T>(T) -> std::unique_ptr<BatchNormOp> {
    return std::make_unique<CpuBatchNorm<T>>(params);
  });
}

}  // namespace trainyard::cpu
