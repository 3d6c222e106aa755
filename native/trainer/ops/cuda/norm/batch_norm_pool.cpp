// A batch norm with ReLU whose output is pooled, by blocks: two launches forward and two backward,
// and a third in each where statistics are summed over ranks.
#include "trainer/ops/cuda/math/norm/norm_pool_blocks.h"
#include "trainer/ops/cuda/norm/norm_steps.h"

namespace trainyard::cuda {

namespace {

/// [n, c, h', w']
TensorDesc pooled(const BatchNormPoolParams& p) {
  const auto size = [&](int extent) { return (extent + 2 * p.pad - p.kernel) / p.stride + 1; };
  const Shape& in = p.input.shape;
  return {{in.n, in.c, size(in.h), size(in.w)}, p.input.layout, p.input.dtype};
}

template <class T>
class BlockBatchNormPool final : public BatchNormPoolOp {
 public:
  BlockBatchNormPool(const Device& device, const BatchNormPoolParams& p)
      : device_(device),
        output_(pooled(p)),
        shape_{static_cast<unsigned>(p.input.shape.c),
               p.input.shape.h,
               p.input.shape.w,
               output_.shape.h,
               output_.shape.w,
               p.kernel,
               p.stride,
               p.pad},
        steps_(device, p.input, p.eps, p.momentum),
        channels_(steps_.channels()),
        summing_(steps_.summing(rows(output_))),
        passing_squares_(steps_.passing(static_cast<unsigned>(p.input.shape.n) * squares(shape_))),
        passing_out_(steps_.passing(rows(output_))) {}

  const TensorDesc& output() const override { return output_; }

  // saved: NormSaved, then the x that won each window, then its place there in a byte.
  size_t saved_bytes() const override { return largest_offset() + output_.bytes() + output_.elements(); }

  // scratch: the blocks' sums, forward of x and backward of y, and NormWork.
  size_t scratch_bytes() const override { return partial_sums() * sizeof(double) + NormWork::bytes(channels_); }

  void forward_training(const Forward& args, const SumOverRanks& sum) override {
    const Saved saved(args.saved, *this);
    const Scratch scratch(args.scratch, *this);
    steps_.statistics(args, saved.norm, scratch.partial, scratch.work, sum);
    blocks(device_.launcher, passing_out_.blocks(),
           NormPoolBlock<T, true>{passing_out_, shape_, numbers(args.x), static_cast<T*>(args.y), saved.largest,
                                  saved.winner, saved.norm.constants});
  }

  void forward_inference(const Forward& args) override {
    const Scratch scratch(args.scratch, *this);
    steps_.running(args, scratch.work);
    blocks(device_.launcher, passing_out_.blocks(),
           NormPoolBlock<T, false>{passing_out_, shape_, numbers(args.x), static_cast<T*>(args.y), nullptr, nullptr,
                                   scratch.work.constants});
  }

  void backward(const Backward& args, const SumOverRanks& sum) override {
    // Read only: what forward saved is laid over the same memory.
    const Saved saved(const_cast<void*>(args.saved), *this);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const Scratch scratch(args.scratch, *this);
    const NormGradientEnd end = steps_.gradient_end(args, saved.norm, scratch.work, !sum);
    args.more_dy != nullptr ? sums<true>(args, saved, scratch, end) : sums<false>(args, saved, scratch, end);
    steps_.join_ranks(end, scratch.work, sum);
    blocks(device_.launcher, passing_squares_.blocks(),
           NormPoolGradientBlock<T>{passing_squares_, shape_, numbers(args.dy), saved.winner, numbers(args.x),
                                    static_cast<T*>(args.dx), saved.norm.constants, scratch.work.slope,
                                    scratch.work.offset});
  }

 private:
  struct Saved {
    NormSaved norm;
    T* largest;
    uint8_t* winner;

    Saved(void* memory, const BlockBatchNormPool& op)
        : norm(memory, op.channels_),
          largest(reinterpret_cast<T*>(static_cast<std::byte*>(memory) + op.largest_offset())),
          winner(reinterpret_cast<uint8_t*>(largest + op.output_.elements())) {}
  };
  struct Scratch {
    double* partial;  // NormFold's
    NormWork work;

    Scratch(void* memory, const BlockBatchNormPool& op)
        : partial(static_cast<double*>(memory)), work(partial + op.partial_sums(), op.channels_) {}
  };

  /// Of an image.
  static unsigned squares(const PoolShape& s) {
    using Gradient = NormPoolGradientBlock<T>;
    return static_cast<unsigned>(Gradient::squares(s.in_h, s.pad) * Gradient::squares(s.in_w, s.pad));
  }
  static const T* numbers(const void* memory) { return static_cast<const T*>(memory); }
  unsigned rows(const TensorDesc& tensor) const {
    return static_cast<unsigned>(tensor.elements() / static_cast<size_t>(tensor.shape.c));
  }
  /// A multiple of 16.
  size_t largest_offset() const { return (NormSaved::bytes(channels_) + 15) / 16 * 16; }
  size_t partial_sums() const { return std::max(steps_.partial_sums(), NormFold<T>::partial_sums(summing_)); }

  /// A window's gradient goes to the x that won it, and nowhere else: so the sums over x are sums
  /// over the windows.
  template <bool kMore>
  void sums(const Backward& args, const Saved& saved, const Scratch& scratch, const NormGradientEnd& end) const {
    blocks(device_.launcher, summing_.blocks(),
           NormGradientSumsBlock<T, kMore, Passed::input, kMore>{static_cast<T*>(args.dy),
                                                                 numbers(args.more_dy),
                                                                 saved.largest,
                                                                 nullptr,
                                                                 saved.norm.constants,
                                                                 steps_.fold(summing_, scratch.partial),
                                                                 {steps_.channels(), {scratch.work.totals}, {end}}});
  }

  const Device& device_;
  TensorDesc output_;
  PoolShape shape_;
  NormSteps<T> steps_;
  unsigned channels_;
  NormTiles summing_;                        // of y
  NormTiles passing_squares_, passing_out_;  // of NormPoolGradientBlock, of y
};

}  // namespace

std::unique_ptr<BatchNormPoolOp> make_batch_norm_pool(const Device& device, const BatchNormPoolParams& params) {
  require_channels_last(device, params.input, "batch norm");
  const Shape& in = params.input.shape;
  const bool fits = std::min(in.h, in.w) + 2 * params.pad >= params.kernel && 2 * params.pad <= params.kernel;
  if (!fits || params.kernel != kNormPoolKernel || params.stride != kNormPoolStride) return nullptr;
  return with_stored(params.input.dtype, [&]<class T>(T) -> std::unique_ptr<BatchNormPoolOp> {
    if (!NormSteps<T>::takes(device, in.c)) return nullptr;
    return std::make_unique<BlockBatchNormPool<T>>(device, params);
  });
}

}  // namespace trainyard::cuda
