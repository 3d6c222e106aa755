// Batch norm by blocks: two launches forward and two backward, or one backward where it is merged
// into a convolution. There is one more in each where statistics are summed over ranks.
#include "trainer/ops/cuda/norm/batch_norm_makers.h"
#include "trainer/ops/cuda/norm/norm_steps.h"

namespace trainyard::cuda {

namespace {

template <class T>
class BlockBatchNorm final : public BatchNormOp {
 public:
  BlockBatchNorm(const Device& device, const BatchNormParams& params)
      : device_(device),
        p_(params),
        steps_(device, params.input, params.eps, params.momentum),
        channels_(steps_.channels()),
        rows_(static_cast<unsigned>(params.input.elements() / channels_)),
        summing_(steps_.summing(rows_)),
        passing_(steps_.passing(rows_)) {}

  // saved: NormSaved, and a bit for each number where backward could not find it again.
  size_t saved_bytes() const override {
    return NormSaved::bytes(channels_) + (notes() ? size_t{rows_} * channels_ / kWide<T> : 0);
  }

  // scratch: the blocks' sums, and NormWork.
  size_t scratch_bytes() const override { return steps_.partial_sums() * sizeof(double) + NormWork::bytes(channels_); }

  void forward_training(const Forward& args, const SumOverRanks& sum) override {
    const NormSaved saved(args.saved, channels_);
    const Scratch scratch(args.scratch, steps_);
    steps_.statistics(args, saved, scratch.partial, scratch.work, sum);
    notes() ? apply<NormEnd::residual_relu_noted>(args, saved.constants, saved.passed) : apply(args, saved.constants);
  }

  void forward_inference(const Forward& args) override {
    const Scratch scratch(args.scratch, steps_);
    steps_.running(args, scratch.work);
    apply(args, scratch.work.constants);
  }

  void backward(const Backward& args, const SumOverRanks& sum) override {
    // Read only: what forward saved is laid over the same memory.
    const NormSaved saved(const_cast<void*>(args.saved), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, steps_);
    const NormGradientEnd end = steps_.gradient_end(args, saved, scratch.work, !sum);
    if (args.sums.rows > 0) {
      steps_.totals_of(args.sums, NormGradientTotals<1>{channels_, {scratch.work.totals}, {end}});
    } else if (args.more_dy != nullptr) {
      if (notes()) {
        sums<true, Passed::noted, true>(args, saved, scratch, end);
      } else {
        p_.relu ? sums<true, Passed::input, true>(args, saved, scratch, end)
                : sums<true, Passed::all, true>(args, saved, scratch, end);
      }
    } else if (notes()) {
      sums<false, Passed::noted, true>(args, saved, scratch, end);
    } else {
      p_.relu ? sums<false, Passed::input, false>(args, saved, scratch, end)
              : sums<false, Passed::all, false>(args, saved, scratch, end);
    }
    steps_.join_ranks(end, scratch.work, sum);
    // What was stored is masked already.
    p_.relu && !notes() && args.more_dy == nullptr && args.sums.rows == 0 ? gradient<true>(args, saved, scratch.work)
                                                                          : gradient<false>(args, saved, scratch.work);
  }

  bool merges() const override { return notes() && kWide<T> == 8; }
  MergedNorm backward_merged(const Backward& args, const Merging& merging, const SumOverRanks& sum) override {
    // Read only, as above.
    const NormSaved saved(const_cast<void*>(args.saved), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, steps_);
    const NormGradientEnd end = steps_.gradient_end(args, saved, scratch.work, !sum);
    if constexpr (kWide<T> == 8) {
      steps_.totals_of(args.sums,
                       MergedNormEnd<T>{merged_products<T>(merging, saved), {channels_, {scratch.work.totals}, {end}}});
    }
    steps_.join_ranks(end, scratch.work, sum);
    return merged_norm(saved, scratch.work);
  }

  bool has_mask() const override { return p_.relu; }
  NormMask mask(const void* memory) const override {
    const NormSaved saved(const_cast<void*>(memory), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    if (notes()) return {.passed = saved.passed, .mean = {saved.constants.mean}};
    return {.mean = {saved.constants.mean}, .scale = saved.constants.scale, .beta = saved.constants.beta};
  }

 private:
  struct Scratch {
    double* partial;  // NormFold's
    NormWork work;

    Scratch(void* memory, const NormSteps<T>& steps)
        : partial(static_cast<double*>(memory)), work(partial + steps.partial_sums(), steps.channels()) {}
  };

  static const T* numbers(const void* memory) { return static_cast<const T*>(memory); }
  /// Whether forward notes what the ReLU let pass: x alone does not say it where a residual is
  /// added.
  bool notes() const { return p_.residual && p_.relu; }

  void apply(const Forward& args, const NormConstants& constants) const {
    if (p_.residual) {
      p_.relu ? apply<NormEnd::residual_relu>(args, constants) : apply<NormEnd::residual>(args, constants);
    } else {
      p_.relu ? apply<NormEnd::relu>(args, constants) : apply<NormEnd::plain>(args, constants);
    }
  }

  template <NormEnd kEnd>
  void apply(const Forward& args, const NormConstants& constants, uint8_t* passed = nullptr) const {
    blocks(device_.launcher, passing_.blocks(),
           NormApplyBlock<T, kEnd>{passing_, numbers(args.x), numbers(args.residual), static_cast<T*>(args.y), passed,
                                   constants});
  }

  template <bool kMore, Passed kPassed, bool kStore>
  void sums(const Backward& args, const NormSaved& saved, const Scratch& scratch, const NormGradientEnd& end) const {
    blocks(device_.launcher, summing_.blocks(),
           NormGradientSumsBlock<T, kMore, kPassed, kStore>{static_cast<T*>(args.dy),
                                                            numbers(args.more_dy),
                                                            numbers(args.x),
                                                            saved.passed,
                                                            saved.constants,
                                                            steps_.fold(summing_, scratch.partial),
                                                            {channels_, {scratch.work.totals}, {end}}});
  }

  template <bool kMasked>
  void gradient(const Backward& args, const NormSaved& saved, const NormWork& work) const {
    blocks(device_.launcher, passing_.blocks(),
           NormGradientBlock<T, kMasked>{passing_, numbers(args.dy), numbers(args.x), static_cast<T*>(args.dx),
                                         saved.constants, work.slope, work.offset});
  }

  const Device& device_;
  BatchNormParams p_;
  NormSteps<T> steps_;
  unsigned channels_, rows_;
  NormTiles summing_, passing_;
};

}  // namespace

std::unique_ptr<BatchNormOp> make_block_batch_norm(const Device& device, const BatchNormParams& params) {
  return with_stored(params.input.dtype, [&]<class T>(T) -> std::unique_ptr<BatchNormOp> {
    if (!NormSteps<T>::takes(device, params.input.shape.c)) return nullptr;
    return std::make_unique<BlockBatchNorm<T>>(device, params);
  });
}

}  // namespace trainyard::cuda
