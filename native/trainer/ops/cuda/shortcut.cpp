// The shortcut without parameters, and the sum of two tensors.
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/math/pooling.h"
#include "trainer/ops/cuda/math/sums.h"

namespace trainyard::cuda {

namespace {

class CudaShortcut final : public ShortcutOp {
 public:
  CudaShortcut(const Device& device, const TensorDesc& input, int out_channels, int stride)
      : device_(device), input_(input), stride_(stride) {
    require_channels_last(device, input, "shortcut");
    const Shape& in = input.shape;
    output_ = {{in.n, out_channels, (in.h - 1) / stride + 1, (in.w - 1) / stride + 1}, input.layout, input.dtype};
  }

  const TensorDesc& output() const override { return output_; }

  void forward(const void* x, void* y) override {
    const Shape& in = input_.shape;
    const Shape& out = output_.shape;
    with_stored(input_.dtype, [&]<class T>(T) {
      each(device_.launcher, output_.elements(),
           Shortcut<T>{static_cast<const T*>(x), static_cast<T*>(y), static_cast<unsigned>(in.c),
                       static_cast<unsigned>(out.c), in.h, in.w, out.h, out.w, stride_});
    });
  }

  void backward(const void* dy, void* dx) override {
    const Shape& in = input_.shape;
    const Shape& out = output_.shape;
    with_stored(input_.dtype, [&]<class T>(T) {
      each(device_.launcher, input_.elements(),
           ShortcutGradient<T>{static_cast<const T*>(dy), static_cast<T*>(dx), static_cast<unsigned>(in.c),
                               static_cast<unsigned>(out.c), in.h, in.w, out.h, out.w, stride_});
    });
  }

 private:
  const Device& device_;
  TensorDesc input_;   // [n, c, h, w]
  TensorDesc output_;  // [n, out_channels, ceil(h/stride), ceil(w/stride)]
  int stride_;
};

class CudaAdd final : public AddOp {
 public:
  CudaAdd(const Device& device, const TensorDesc& tensor)
      : device_(device), elements_(tensor.elements()), dtype_(tensor.dtype) {}

  void run(void* to, const void* from) override {
    with_stored(dtype_, [&]<class T>(T) {
      auto* sum = static_cast<T*>(to);
      const auto* more = static_cast<const T*>(from);
      const size_t wide = device_.plain_kernels ? 0 : elements_ / kWide<T>;
      const size_t done = wide * kWide<T>;
      each(device_.launcher, wide, AddToWide<T>{sum, more});
      each(device_.launcher, elements_ - done, AddTo<T>{sum + done, more + done});
    });
  }

 private:
  const Device& device_;
  size_t elements_;
  DType dtype_;
};

}  // namespace

std::unique_ptr<ShortcutOp> make_shortcut(const Device& device, const TensorDesc& input, int out_channels, int stride) {
  return std::make_unique<CudaShortcut>(device, input, out_channels, stride);
}

std::unique_ptr<AddOp> make_add(const Device& device, const TensorDesc& tensor) {
  return std::make_unique<CudaAdd>(device, tensor);
}

}  // namespace trainyard::cuda
