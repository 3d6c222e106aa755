// Batch norm by blocks: two launches forward and two backward, and a third in each where statistics
// are summed over ranks.
#include "trainer/ops/cuda/batch_norm_makers.h"
#include "trainer/ops/cuda/math/norm_backward_blocks.h"
#include "trainer/ops/cuda/norm_saved.h"

namespace trainyard::cuda {

namespace {

/// Lanes of a kernel that sums: a tile is a cache line of 128 bytes wide. So no block has many
/// others' sums to add up in the end.
constexpr unsigned kSummingLanes = 8;
/// Lanes of a kernel that passes: whole warps, whose bits are stored together.
constexpr unsigned kPassingLanes = 32;

template <class T>
class BlockBatchNorm final : public BatchNormOp {
 public:
  BlockBatchNorm(const Device& device, const BatchNormParams& params)
      : device_(device),
        p_(params),
        channels_(static_cast<unsigned>(params.input.shape.c)),
        rows_(static_cast<unsigned>(params.input.elements() / channels_)),
        summing_(NormTiles::of(rows_, channels_, kWide<T>, device.summing_blocks, kSummingLanes)),
        passing_(NormTiles::of(rows_, channels_, kWide<T>, device.passing_blocks, kPassingLanes)) {}

  // saved: NormSaved, and a bit for each number where backward could not find it again.
  size_t saved_bytes() const override {
    return NormSaved::bytes(channels_) + (notes() ? size_t{rows_} * channels_ / kWide<T> : 0);
  }

  // scratch: the blocks' sums, their totals with the count behind them, and five constants a
  // channel.
  size_t scratch_bytes() const override {
    return (NormFold<T>::partial_sums(summing_) + 2 * size_t{channels_} + 1) * sizeof(double) +
           5 * size_t{channels_} * sizeof(float);
  }

  void forward_training(const Forward& args, const SumOverRanks& sum) override {
    const NormSaved saved(args.saved, channels_);
    const Scratch scratch(args.scratch, *this);
    const NormStatistics statistics{
        scratch.totals, channels_,         p_.eps,           p_.momentum, args.gamma,
        args.beta,      args.running_mean, args.running_var, saved.count, saved.inverse_deviation,
        saved.constants};
    run(summing_, NormSumsBlock<T>{numbers(args.x), fold(scratch), {statistics, sum ? scratch.totals : nullptr}});
    if (sum) {
      sum(scratch.totals, 2 * size_t{channels_} + 1);
      each(device_.launcher, channels_, statistics);
    }
    notes() ? apply<NormEnd::residual_relu_noted>(args, saved.constants, saved.passed) : apply(args, saved.constants);
  }

  void forward_inference(const Forward& args) override {
    const Scratch scratch(args.scratch, *this);
    each(device_.launcher, channels_,
         NormRunning{p_.eps, args.gamma, args.beta, args.running_mean, args.running_var, scratch.constants});
    apply(args, scratch.constants);
  }

  void backward(const Backward& args, const SumOverRanks& sum) override {
    // Read only: what forward saved is laid over the same memory.
    const NormSaved saved(const_cast<void*>(args.saved), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, *this);
    if (args.more_dy != nullptr) {
      if (notes()) {
        sums<true, Passed::noted, true>(args, saved, scratch, !sum);
      } else {
        p_.relu ? sums<true, Passed::input, true>(args, saved, scratch, !sum)
                : sums<true, Passed::all, true>(args, saved, scratch, !sum);
      }
    } else if (notes()) {
      sums<false, Passed::noted, true>(args, saved, scratch, !sum);
    } else {
      p_.relu ? sums<false, Passed::input, false>(args, saved, scratch, !sum)
              : sums<false, Passed::all, false>(args, saved, scratch, !sum);
    }
    if (sum) {
      sum(scratch.totals, 2 * size_t{channels_});
      each(device_.launcher, channels_, constants(args, saved, scratch));
    }
    // What was stored is masked already.
    p_.relu && !notes() && args.more_dy == nullptr ? gradient<true>(args, saved, scratch)
                                                   : gradient<false>(args, saved, scratch);
  }

 private:
  struct Scratch {
    double* partial;  // NormFold's
    double* totals;   // [2, channels] and the count
    NormConstants constants;
    float* slope;   // [channels]
    float* offset;  // [channels]

    Scratch(void* memory, const BlockBatchNorm& op)
        : partial(static_cast<double*>(memory)), totals(partial + NormFold<T>::partial_sums(op.summing_)) {
      const size_t channels = op.channels_;
      auto* floats = reinterpret_cast<float*>(totals + 2 * channels + 1);
      constants = {floats, floats + channels, floats + 2 * channels};
      slope = floats + 3 * channels;
      offset = floats + 4 * channels;
    }
  };

  static const T* numbers(const void* memory) { return static_cast<const T*>(memory); }
  /// Whether forward notes what the ReLU let pass: x alone does not say it where a residual is added.
  bool notes() const { return p_.residual && p_.relu; }

  template <class F>
  void run(const NormTiles& tiles, const F& f) const {
    blocks(device_.launcher, tiles.blocks(), f);
  }

  NormFold<T> fold(const Scratch& scratch) const {
    return {summing_, scratch.partial, reinterpret_cast<unsigned*>(device_.tickets->data())};
  }

  NormGradientConstants constants(const Backward& args, const NormSaved& saved, const Scratch& scratch) const {
    return {scratch.totals, saved.inverse_deviation, saved.count, args.gamma, channels_, scratch.slope, scratch.offset};
  }

  void apply(const Forward& args, const NormConstants& constants) const {
    if (p_.residual) {
      p_.relu ? apply<NormEnd::residual_relu>(args, constants) : apply<NormEnd::residual>(args, constants);
    } else {
      p_.relu ? apply<NormEnd::relu>(args, constants) : apply<NormEnd::plain>(args, constants);
    }
  }

  template <NormEnd kEnd>
  void apply(const Forward& args, const NormConstants& constants, uint8_t* passed = nullptr) const {
    run(passing_, NormApplyBlock<T, kEnd>{passing_, numbers(args.x), numbers(args.residual), static_cast<T*>(args.y),
                                          passed, constants});
  }

  template <bool kMore, Passed kPassed, bool kStore>
  void sums(const Backward& args, const NormSaved& saved, const Scratch& scratch, bool alone) const {
    const NormParameterGradients parameters{scratch.totals, saved.inverse_deviation, channels_, args.dgamma,
                                            args.dbeta};
    run(summing_,
        NormGradientSumsBlock<T, kMore, kPassed, kStore>{static_cast<T*>(args.dy),
                                                         numbers(args.more_dy),
                                                         numbers(args.x),
                                                         saved.passed,
                                                         saved.constants,
                                                         fold(scratch),
                                                         scratch.totals,
                                                         {parameters, constants(args, saved, scratch), alone}});
  }

  template <bool kMasked>
  void gradient(const Backward& args, const NormSaved& saved, const Scratch& scratch) const {
    run(passing_, NormGradientBlock<T, kMasked>{passing_, numbers(args.dy), numbers(args.x), static_cast<T*>(args.dx),
                                                saved.constants, scratch.slope, scratch.offset});
  }

  const Device& device_;
  BatchNormParams p_;
  unsigned channels_, rows_;
  NormTiles summing_, passing_;
};

}  // namespace

std::unique_ptr<BatchNormOp> make_block_batch_norm(const Device& device, const BatchNormParams& params) {
  return with_stored(params.input.dtype, [&]<class T>(T) -> std::unique_ptr<BatchNormOp> {
    const auto channels = static_cast<unsigned>(params.input.shape.c);
    if (!device.takes_wide<T>(channels) || NormTiles::of(1, channels, kWide<T>, 1, kSummingLanes).tiles > kTickets)
      return nullptr;
    return std::make_unique<BlockBatchNorm<T>>(device, params);
  });
}

}  // namespace trainyard::cuda
