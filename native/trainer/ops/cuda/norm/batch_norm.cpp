// Batch norm over [rows, channels] of any shape, a thread for each number. Sums go by a tree whose
// shape depends on the tensor alone, so every run gives the same bits.
#include <algorithm>
#include <cmath>
#include <utility>

#include "trainer/ops/cuda/math/norm/norm_backward.h"
#include "trainer/ops/cuda/norm/batch_norm_makers.h"
#include "trainer/ops/cuda/norm/norm_saved.h"

namespace trainyard::cuda {

namespace {

/// Enough threads to fill the largest device while they sum.
constexpr unsigned kSummingThreads = 1U << 17U;

class PlainBatchNorm final : public BatchNormOp {
 public:
  PlainBatchNorm(const Device& device, const BatchNormParams& params)
      : device_(device),
        p_(params),
        elements_(params.input.elements()),
        channels_(static_cast<unsigned>(params.input.shape.c)),
        rows_(static_cast<unsigned>(elements_ / channels_)),
        splits_(std::clamp(kSummingThreads / channels_, 1U, rows_)),
        groups_(static_cast<unsigned>(std::ceil(std::sqrt(static_cast<double>(splits_))))) {}

  size_t saved_bytes() const override { return NormSaved::bytes(channels_); }

  // scratch: two sums per split and channel, per group and channel, their totals with the count
  // behind them, and five constants a channel.
  size_t scratch_bytes() const override {
    const size_t sums = 2 * size_t{channels_} * (size_t{splits_} + groups_ + 1) + 1;
    return sums * sizeof(double) + 5 * size_t{channels_} * sizeof(float);
  }

  void forward_training(const Forward& args, const SumOverRanks& sum) override {
    const NormSaved saved(args.saved, channels_);
    const Scratch scratch(args.scratch, *this);
    with_stored(p_.input.dtype, [&]<class T>(T) {
      run(size_t{splits_} * channels_,
          NormSums<T>{static_cast<const T*>(args.x), rows_, channels_, splits_, scratch.partial});
    });
    fold(scratch);
    run(1, SetNumber{scratch.totals + 2 * size_t{channels_}, static_cast<double>(rows_)});
    if (sum) sum(scratch.totals, 2 * size_t{channels_} + 1);
    run(channels_,
        NormStatistics{scratch.totals, channels_, p_.eps, p_.momentum, args.gamma, args.beta, args.running_mean,
                       args.running_var, saved.count, saved.inverse_deviation, saved.constants});
    apply(args, saved.constants);
  }

  void forward_inference(const Forward& args) override {
    const Scratch scratch(args.scratch, *this);
    run(channels_, NormRunning{p_.eps, args.gamma, args.beta, args.running_mean, args.running_var, scratch.constants});
    apply(args, scratch.constants);
  }

  void backward(const Backward& args, const SumOverRanks& sum) override {
    // Read only: what forward saved is laid over the same memory.
    const NormSaved saved(const_cast<void*>(args.saved), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, *this);
    const bool stored = p_.residual || args.more_dy != nullptr;
    const Mask mask = !p_.relu ? Mask::none : p_.residual ? Mask::output : Mask::input;
    with_stored(p_.input.dtype, [&]<class T>(T) {
      run(size_t{splits_} * channels_,
          NormGradientSums<T>{static_cast<T*>(args.dy), static_cast<const T*>(args.more_dy),
                              static_cast<const T*>(args.x), static_cast<const T*>(args.y), rows_, channels_, splits_,
                              mask, stored, saved.constants, scratch.partial});
    });
    fold(scratch);
    run(channels_, NormParameterGradients{scratch.totals, saved.inverse_deviation, channels_, args.dgamma, args.dbeta});
    if (sum) sum(scratch.totals, 2 * size_t{channels_});
    run(channels_, NormGradientConstants{scratch.totals, saved.inverse_deviation, saved.count, args.gamma, channels_,
                                         scratch.slope, scratch.offset});
    with_stored(p_.input.dtype, [&]<class T>(T) {
      run(elements_,
          NormGradient<T>{static_cast<const T*>(args.dy), static_cast<const T*>(args.x), static_cast<T*>(args.dx),
                          channels_, stored ? Mask::none : mask, saved.constants, scratch.slope, scratch.offset});
    });
  }

 private:
  struct Scratch {
    double* partial;  // [splits, 2, channels]
    double* folded;   // [groups, 2, channels]
    double* totals;   // [2, channels] and the count
    NormConstants constants;
    float* slope;   // [channels]
    float* offset;  // [channels]

    Scratch(void* memory, const PlainBatchNorm& op)
        : partial(static_cast<double*>(memory)),
          folded(partial + 2 * size_t{op.channels_} * op.splits_),
          totals(folded + 2 * size_t{op.channels_} * op.groups_) {
      const size_t channels = op.channels_;
      auto* floats = reinterpret_cast<float*>(totals + 2 * channels + 1);
      constants = {floats, floats + channels, floats + 2 * channels};
      slope = floats + 3 * channels;
      offset = floats + 4 * channels;
    }
  };

  template <class F>
  void run(size_t count, const F& f) const {
    each(device_.launcher, count, f);
  }

  void fold(const Scratch& scratch) const {
    const unsigned width = 2 * channels_;
    run(size_t{groups_} * width, FoldRows{scratch.partial, scratch.folded, splits_, groups_, width});
    run(width, FoldRows{scratch.folded, scratch.totals, groups_, 1, width});
  }

  void apply(const Forward& args, const NormConstants& constants) const {
    with_stored(p_.input.dtype, [&]<class T>(T) {
      const auto* residual = p_.residual ? static_cast<const T*>(args.residual) : nullptr;
      run(elements_, NormApply<T>{static_cast<const T*>(args.x), residual, static_cast<T*>(args.y), channels_, p_.relu,
                                  constants});
    });
  }

  const Device& device_;
  BatchNormParams p_;
  size_t elements_;
  unsigned channels_, rows_;
  unsigned splits_;  // threads that share a channel
  unsigned groups_;  // of the splits' sums
};

}  // namespace

std::unique_ptr<BatchNormOp> make_plain_batch_norm(const Device& device, const BatchNormParams& params) {
  return std::make_unique<PlainBatchNorm>(device, params);
}

std::unique_ptr<BatchNormOp> make_batch_norm(const Device& device, const BatchNormParams& params) {
  require_channels_last(device, params.input, "batch norm");
  auto op = make_block_batch_norm(device, params);
  return op != nullptr ? std::move(op) : make_plain_batch_norm(device, params);
}

}  // namespace trainyard::cuda
