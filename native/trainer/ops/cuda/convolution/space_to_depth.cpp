#include "trainer/ops/cuda/convolution/space_to_depth.h"

#include "trainer/ops/cuda/math/space_to_depth.h"

namespace trainyard::cuda {

namespace {

constexpr int kMostChannels = 4;

FoldedShape folded_shape(const Conv2dParams& p) {
  const Shape out = p.output_shape();
  FoldedShape s{};
  s.height = FoldedAxis::of(p.input.shape.h, p.kernel_h, p.pad_h, out.h);
  s.width = FoldedAxis::of(p.input.shape.w, p.kernel_w, p.pad_w, out.w);
  s.in = static_cast<unsigned>(p.input.shape.c);
  s.depth = (4 * s.in + 7) / 8 * 8;
  s.images = static_cast<unsigned>(p.input.shape.n);
  s.out = static_cast<unsigned>(p.out_channels);
  return s;
}

/// The convolution that cuDNN sees.
Conv2dParams folded_params(const Conv2dParams& p, const FoldedShape& s) {
  Conv2dParams folded = p;
  folded.input.shape = {p.input.shape.n, static_cast<int>(s.channels()), s.height.blocks, s.width.out};
  folded.kernel_h = s.height.taps;
  folded.kernel_w = 1;
  folded.stride_h = folded.stride_w = 1;
  folded.pad_h = folded.pad_w = 0;
  return folded;
}

template <class T>
class SpaceToDepthConvolution final : public ConvolutionPlans {
 public:
  SpaceToDepthConvolution(const Device& device, const Conv2dParams& params)
      : device_(device),
        shape_(folded_shape(params)),
        weights_(static_cast<size_t>(params.kernel_h * params.kernel_w) * shape_.in * shape_.out),
        plans_(device.plan_convolution(folded_params(params, shape_))) {}

  std::string description() const override { return plans_->description() + ", by space to depth"; }

  size_t forward_scratch_bytes() const override { return own_bytes(shape_) + plans_->forward_scratch_bytes(); }
  size_t backward_data_scratch_bytes() const override { return 0; }
  size_t backward_weights_scratch_bytes() const override {
    return own_bytes(shape_) + plans_->backward_weights_scratch_bytes();
  }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    fold_and_run(x, weights, y, Scratch(scratch, shape_));
  }

  /// The image has no gradient.
  void backward_data(const void*, const void*, void*, void*) override {}

  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    const Scratch to(scratch, shape_);
    each(device_.launcher, shape_.pixels() / kWide<T>,
         SpaceToDepth<T>{shape_, 0, nullptr, static_cast<const T*>(x), nullptr, to.x});
    weights_of_folded(to.x, dy, dw, to);
  }

  size_t kept_bytes() const override { return aligned(shape_.pixels()); }
  void forward_keeping(const void* x, const void* weights, void* y, void* scratch, void* kept) override {
    Scratch to(scratch, shape_);
    to.x = static_cast<T*>(kept);
    fold_and_run(x, weights, y, to);
  }
  void backward_weights_kept(const void* kept, const void* dy, void* dw, void* scratch) override {
    weights_of_folded(static_cast<const T*>(kept), dy, dw, Scratch(scratch, shape_));
  }

 private:
  static size_t aligned(size_t elements) { return (elements * sizeof(T) + 63) / 64 * 64; }
  static size_t own_bytes(const FoldedShape& shape) { return aligned(shape.pixels()) + aligned(shape.weights()); }

  struct Scratch {
    T* x;        // folded
    T* weights;  // folded, or their gradient
    void* rest;  // cuDNN's

    Scratch(void* memory, const FoldedShape& shape) {
      auto* bytes = static_cast<std::byte*>(memory);
      x = reinterpret_cast<T*>(bytes);
      weights = reinterpret_cast<T*>(bytes + aligned(shape.pixels()));
      rest = bytes + own_bytes(shape);
    }
  };

  void fold_and_run(const void* x, const void* weights, void* y, const Scratch& to) const {
    const size_t filters = shape_.weights() / kWide<T>;
    each(device_.launcher, filters + shape_.pixels() / kWide<T>,
         SpaceToDepth<T>{shape_, static_cast<unsigned>(filters), static_cast<const T*>(weights),
                         static_cast<const T*>(x), to.weights, to.x});
    plans_->forward(to.x, to.weights, y, to.rest);
  }
  void weights_of_folded(const T* folded, const void* dy, void* dw, const Scratch& to) const {
    plans_->backward_weights(folded, dy, to.weights, to.rest);
    each(device_.launcher, weights_, DepthToSpace<T>{shape_, to.weights, static_cast<T*>(dw)});
  }

  const Device& device_;
  FoldedShape shape_;
  size_t weights_;  // elements, not folded
  std::unique_ptr<ConvolutionPlans> plans_;
};

}  // namespace

std::unique_ptr<ConvolutionPlans> plan_space_to_depth(const Device& device, const Conv2dParams& params) {
  const bool takes = !device.plain_kernels && params.input.shape.c <= kMostChannels && params.stride_h == 2 &&
                     params.stride_w == 2 && !(params.training && params.input_gradient);
  // Kernels count to kMostElements.
  if (!takes || folded_shape(params).pixels() >= kMostElements) return nullptr;
  switch (params.input.dtype) {
    case DType::bf16:
      return std::make_unique<SpaceToDepthConvolution<BFloat16>>(device, params);
    case DType::f16:
      return std::make_unique<SpaceToDepthConvolution<Float16>>(device, params);
    case DType::f32:
      break;
  }
  // Without tensor cores the zeros would cost time.
  return nullptr;
}

}  // namespace trainyard::cuda
