// Two batch norms that are added, by blocks: three launches forward and two backward, and two more
// in each where statistics are summed over ranks.
#include "trainer/ops/cuda/math/norm/norm_pair_blocks.h"
#include "trainer/ops/cuda/norm/norm_steps.h"

namespace trainyard::cuda {

namespace {

template <class T>
class BlockBatchNormPair final : public BatchNormPairOp {
 public:
  BlockBatchNormPair(const Device& device, const BatchNormPairParams& p)
      : device_(device),
        steps_{NormSteps<T>(device, p.input, p.eps[0], p.momentum),
               NormSteps<T>(device, p.input, p.eps[1], p.momentum)},
        channels_(steps_[0].channels()),
        rows_(static_cast<unsigned>(p.input.elements() / channels_)),
        summing_(steps_[0].summing(rows_)),
        passing_(steps_[0].passing(rows_)) {}

  // saved: a NormSaved for each input, then a bit for each number of y.
  size_t saved_bytes() const override { return 2 * NormSaved::bytes(channels_) + size_t{rows_} * channels_ / kWide<T>; }
  // scratch: the blocks' sums, then a NormWork for each input.
  size_t scratch_bytes() const override { return partial_sums() * sizeof(double) + 2 * NormWork::bytes(channels_); }

  void forward_training(const Forward& args, const SumOverRanks& sum) override {
    const Saved saved(args.saved, channels_);
    const Scratch scratch(args.scratch, *this);
    for (const size_t i : {size_t{1}, size_t{0}}) {
      steps_[i].statistics(args.inputs[i], saved.of[i], scratch.partial, scratch.of[i], sum);
    }
    apply<true>(args, saved.of[0].constants, saved.of[1].constants, saved.of[1].passed);
  }

  void forward_inference(const Forward& args) override {
    const Scratch scratch(args.scratch, *this);
    for (size_t i = 0; i < 2; ++i) steps_[i].running(args.inputs[i], scratch.of[i]);
    apply<false>(args, scratch.of[0].constants, scratch.of[1].constants, nullptr);
  }

  void backward(const Backward& args, const SumOverRanks& sum) override {
    // Read only: what forward saved is laid over the same memory.
    const Saved saved(const_cast<void*>(args.saved), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, *this);
    const auto end = [&](size_t i) { return steps_[i].gradient_end(args.inputs[i], saved.of[i], scratch.of[i], !sum); };
    const NormGradientTotals<2> totals{channels_, {scratch.of[0].totals, scratch.of[1].totals}, {end(0), end(1)}};
    if (args.sums.rows > 0) {
      steps_[0].totals_of(args.sums, totals);
    } else {
      args.more_dy != nullptr ? sums<true>(args, saved, scratch, totals) : sums<false>(args, saved, scratch, totals);
    }
    for (size_t i = 0; i < 2; ++i) steps_[i].join_ranks(end(i), scratch.of[i], sum);
    const auto one = [&](size_t i) {
      return NormGradientOf<T>{numbers(args.inputs[i].x), static_cast<T*>(args.inputs[i].dx), saved.of[i].constants,
                               scratch.of[i].slope, scratch.of[i].offset};
    };
    blocks(device_.launcher, passing_.blocks(), NormPairGradientBlock<T>{passing_, numbers(args.dy), {one(0), one(1)}});
  }

  bool merges() const override { return kWide<T> == 8; }
  MergedNorm backward_merged(const Backward& args, const BatchNormOp::Merging& merging,
                             const SumOverRanks& sum) override {
    // Read only, as above.
    const Saved saved(const_cast<void*>(args.saved), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, *this);
    const auto end = [&](size_t i) { return steps_[i].gradient_end(args.inputs[i], saved.of[i], scratch.of[i], !sum); };
    const auto totals = [&](size_t i) { return NormGradientTotals<1>{channels_, {scratch.of[i].totals}, {end(i)}}; };
    if constexpr (kWide<T> == 8) {
      steps_[0].totals_of(args.sums, MergedPairEnd<T>{merged_products<T>(merging, saved.of[0]), totals(0), totals(1)});
    }
    for (size_t i = 0; i < 2; ++i) steps_[i].join_ranks(end(i), scratch.of[i], sum);
    blocks(device_.launcher, passing_.blocks(),
           NormGradientBlock<T, false>{passing_, numbers(args.dy), numbers(args.inputs[1].x),
                                       static_cast<T*>(args.inputs[1].dx), saved.of[1].constants, scratch.of[1].slope,
                                       scratch.of[1].offset});
    return merged_norm(saved.of[0], scratch.of[0]);
  }

  bool has_mask() const override { return true; }
  NormMask mask(const void* memory) const override {
    const Saved saved(const_cast<void*>(memory), channels_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    return {.passed = saved.of[1].passed, .mean = {saved.of[0].constants.mean, saved.of[1].constants.mean}};
  }

 private:
  struct Saved {
    NormSaved of[2];

    Saved(void* memory, size_t channels)
        : of{NormSaved(memory, channels),
             NormSaved(static_cast<std::byte*>(memory) + NormSaved::bytes(channels), channels)} {}
  };
  struct Scratch {
    double* partial;  // NormFold's
    NormWork of[2];

    Scratch(void* memory, const BlockBatchNormPair& op)
        : partial(static_cast<double*>(memory)),
          of{NormWork(partial + op.partial_sums(), op.channels_),
             NormWork(reinterpret_cast<std::byte*>(partial + op.partial_sums()) + NormWork::bytes(op.channels_),
                      op.channels_)} {}
  };

  static const T* numbers(const void* memory) { return static_cast<const T*>(memory); }
  /// Three sums backward, where forward has two.
  size_t partial_sums() const { return NormFold<T, 3>::partial_sums(summing_); }

  template <bool kNote>
  void apply(const Forward& args, const NormConstants& branch, const NormConstants& projection, uint8_t* passed) const {
    blocks(device_.launcher, passing_.blocks(),
           NormPairApplyBlock<T, kNote>{passing_,
                                        {numbers(args.inputs[0].x), numbers(args.inputs[1].x)},
                                        static_cast<T*>(args.y),
                                        passed,
                                        {branch, projection}});
  }

  template <bool kMore>
  void sums(const Backward& args, const Saved& saved, const Scratch& scratch,
            const NormGradientTotals<2>& totals) const {
    blocks(device_.launcher, summing_.blocks(),
           NormPairGradientSumsBlock<T, kMore>{static_cast<T*>(args.dy),
                                               numbers(args.more_dy),
                                               {numbers(args.inputs[0].x), numbers(args.inputs[1].x)},
                                               saved.of[1].passed,
                                               {saved.of[0].constants.mean, saved.of[1].constants.mean},
                                               steps_[0].template fold<3>(summing_, scratch.partial),
                                               totals});
  }

  const Device& device_;
  NormSteps<T> steps_[2];
  unsigned channels_, rows_;
  NormTiles summing_, passing_;
};

}  // namespace

std::unique_ptr<BatchNormPairOp> make_batch_norm_pair(const Device& device, const BatchNormPairParams& params) {
  require_channels_last(device, params.input, "batch norm");
  return with_stored(params.input.dtype, [&]<class T>(T) -> std::unique_ptr<BatchNormPairOp> {
    if (!NormSteps<T>::takes(device, params.input.shape.c)) return nullptr;
    return std::make_unique<BlockBatchNormPair<T>>(device, params);
  });
}

}  // namespace trainyard::cuda
